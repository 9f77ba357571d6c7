import type { Random } from './random.ts';

/** What can go wrong. A seed draws how often each of them does; many do not happen at all in one run. */
export const faultNames = [
  'mysql-refused',
  'mysql-unknown-done',
  'mysql-unknown-undone',
  'mysql-unknown-late',
  'mysql-contended',
  'mysql-slow',
  'redis-lost',
  'redis-answer-lost',
  'redis-late',
  'redis-load-late',
  'redis-doubled',
  'redis-slow',
  'redis-flushed',
  'redis-rolled-back',
  'broker-refuses-send',
  'broker-answer-lost',
  'broker-loses',
  'broker-doubles',
  'broker-late',
  'broker-early',
  'broker-ack-lost',
  'provider-away',
  'provider-answer-lost',
  'provider-late',
  'provider-unsure',
  'webhook-doubled',
  'webhook-late',
  'http-answer-lost',
  'notice-away',
  'notice-answer-lost',
  'process-killed',
  'process-frozen',
] as const;
export type FaultName = (typeof faultNames)[number];

/** From 0, never, to 1. */
export type FaultRates = Readonly<Partial<Record<FaultName, number>>>;

export interface Faults {
  /** Does it happen now? Never once the faults have stopped. */
  strikes(name: FaultName): boolean;
  /** How often it strikes: 0 to 1, drawn by the seed. */
  rate(name: FaultName): number;
  /** From now on nothing goes wrong any more. */
  stop(): void;
  /** How often each has struck. */
  counts(): ReadonlyMap<FaultName, number>;
}

/** Rates of those that strike a call: rare, frequent, or a bad day. */
const rates = [0.01, 0.03, 0.1, 0.25] as const;
/** Asked at each answer that a process gets: more, and nothing would ever be done. */
const rateOfLives = 0.06;

/**
 * The faults of one run. Most runs have a few kinds, so that each is also met without the others, which would
 * hide what it does; one run in twenty has none.
 */
export function createFaults(
  random: Random,
  without: ReadonlySet<FaultName>,
  /** Faults that surely happen, and how often. */
  often: FaultRates = {},
): Faults {
  const calm = random.chance(0.05);
  const share = random.pick([0.15, 0.35, 0.6]);
  const rateOf = new Map<FaultName, number>();
  for (const name of faultNames) {
    const drawn = random.chance(share) ? random.pick(rates) : 0;
    rateOf.set(name, often[name] ?? (calm || without.has(name) ? 0 : drawn));
  }
  const counts = new Map<FaultName, number>();
  let stopped = false;
  return {
    strikes: (name) => {
      const rate = rateOf.get(name) ?? 0;
      if (stopped || rate === 0) return false;
      const isLife = name === 'process-killed' || name === 'process-frozen';
      if (!random.chance(isLife ? rate * rateOfLives : rate)) return false;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return true;
    },
    rate: (name) => rateOf.get(name) ?? 0,
    stop: () => {
      stopped = true;
    },
    counts: () => counts,
  };
}

import type { Random } from './random.ts';

/** What can be killed and frozen beside the apps' processes. */
const serverTargets = ['broker', 'namesrv', 'mysql', 'redis'] as const;

/** One fault: `atMs` from the start of the run, over after `forMs`. */
export interface Fault {
  readonly atMs: number;
  readonly forMs: number;
  readonly kind: 'kill' | 'freeze' | 'flush' | 'rollback' | 'skew' | 'network';
  /** A process (`closer-1`), a server, or for the network `closer-1 to mysql`. */
  readonly target: string;
  /** Network: how it fails. Skew: by how much. */
  readonly how?: string;
}

export interface PlanOptions {
  readonly random: Random;
  readonly minutes: number;
  readonly apps: readonly string[];
  /** `closer-1 to mysql` and so on. */
  readonly links: readonly string[];
  /** Names of the ways in which a network can fail. */
  readonly linkFaults: readonly string[];
  /** Whether clocks can be made to run wrong here. */
  readonly skew: boolean;
}

/** Orders live for 8 s: faults come often enough that every life meets some, and seldom enough that work is done. */
const firstAtMs = 4_000;
const gapMs = { from: 700, to: 5_500 } as const;
const skewsSeconds = [-90, -5, 5, 90] as const;
/** A killed process stays dead for so long; a server of the JVM needs 10 s more to come back. */
const downMs = { from: 200, to: 6_000 } as const;
const frozenMs = { from: 1_000, to: 15_000 } as const;
const networkMs = { from: 1_500, to: 10_000 } as const;
const skewMs = { from: 6_000, to: 15_000 } as const;
/** Age of the data that Redis comes back with. */
const rollbackMs = { from: 2_000, to: 9_000 } as const;

/**
 * A plan from its seed alone. Decks of all kinds and targets are dealt one after the other, so that a run of two
 * minutes meets most of them once, and a long one all of them often. Faults overlap as their durations have it.
 */
export function planFaults(options: PlanOptions): Fault[] {
  const { random, minutes } = options;
  const endMs = minutes * 60_000;
  const faults: Fault[] = [];
  let deck: Omit<Fault, 'atMs'>[] = [];
  for (let atMs = firstAtMs; atMs < endMs; atMs += random.whole(gapMs.from, gapMs.to)) {
    if (deck.length === 0) deck = random.shuffle(fullDeck(options));
    const fault = deck.pop();
    if (fault !== undefined) faults.push({ atMs, ...fault, forMs: Math.min(fault.forMs, endMs - atMs) });
  }
  return faults;
}

function fullDeck({ random, apps, links, linkFaults, skew }: PlanOptions): Omit<Fault, 'atMs'>[] {
  const between = ({ from, to }: { readonly from: number; readonly to: number }): number =>
    random.whole(from, to);
  const kinds = [...new Set(apps.map((name) => name.replace(/-\d+$/, '')))];
  const oneOf = (kind: string): string => random.pick(apps.filter((name) => name.startsWith(`${kind}-`)));
  const targets = [...kinds.map(oneOf), ...serverTargets];
  return [
    ...targets.map((target) => ({ kind: 'kill', target, forMs: between(downMs) }) as const),
    ...[...kinds.map(oneOf), ...serverTargets].map(
      (target) => ({ kind: 'freeze', target, forMs: between(frozenMs) }) as const,
    ),
    ...linkFaults.map(
      (how) => ({ kind: 'network', target: random.pick(links), how, forMs: between(networkMs) }) as const,
    ),
    { kind: 'flush', target: 'redis', forMs: 0 },
    { kind: 'rollback', target: 'redis', forMs: between(rollbackMs) },
    ...(skew
      ? [
          {
            kind: 'skew',
            target: random.pick(apps),
            how: `${random.pick(skewsSeconds)}`,
            forMs: between(skewMs),
          } as const,
        ]
      : []),
  ];
}

/** The fault in words, for the log. */
export function describeFault({ kind, target, how, forMs }: Fault): string {
  const what = {
    kill: 'SIGKILL',
    freeze: 'frozen',
    flush: 'FLUSHALL',
    rollback: 'rolled back',
    skew: 'clock off',
    network: 'network',
  };
  return `${what[kind]} ${target}${how === undefined ? '' : ` (${how}${kind === 'skew' ? ' s' : ''})`} for ${(forMs / 1_000).toFixed(1)} s`;
}

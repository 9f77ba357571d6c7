import { createActivityBody } from '@lapse/contracts';
import { sendBuyers } from './buyers.ts';
import { createFaults, type FaultName, type FaultRates } from './faults.ts';
import { type Guards, guardsWithout } from './guards.ts';
import type { RedisCopy } from './model-redis.ts';
import { sendOperators } from './operators.ts';
import { checkAtRest, type Violation } from './oracle.ts';
import { createPayers } from './payers.ts';
import { type Processes, startProcesses } from './processes.ts';
import { createRandom } from './random.ts';
import { createScheduler } from './scheduler.ts';
import { installVirtualTime } from './virtual-time.ts';
import { watchReminders } from './watch-reminders.ts';
import { createWorld, type World } from './world.ts';

export interface SeedOptions {
  readonly seed: number;
  readonly guards?: Guards;
  /** Faults that do not happen, to find those that matter. */
  readonly without?: ReadonlySet<FaultName>;
  /** Faults that happen as often as this, whatever the seed draws. */
  readonly often?: FaultRates;
  /** Gets the history, a line a step. */
  readonly onLine?: (line: string) => void;
}

export interface SeedResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  /** Sold, whatever became of them. */
  readonly orders: number;
  readonly steps: number;
  /** How often each fault struck. */
  readonly faults: ReadonlyMap<FaultName, number>;
}

/** Any time; every run starts then. */
const startMs = Date.UTC(2027, 0, 1);
/** Buyers come, and things go wrong, for so long. */
const buyersMs = 45_000;
const faultsMs = 70_000;
/**
 * How long everything may take to come to rest once nothing goes wrong any more: a message that is 30 s late, an
 * order's whole window after a hold, the sweeps, the redeliveries, a refund's five minutes between two tries. What is
 * not at rest then is stuck. Most runs rest after half a minute.
 */
const restMs = 900_000;
const lookEveryMs = 2_000;
/** Streams apart, so that a decision's own chance changes nothing about the faults. */
const streams = { world: 0, faults: 0x5eed, chance: 0xd1ce, processes: 0x11fe };

/**
 * One history, decided by its seed alone: buyers, processes and faults; then peace, until everything rests; then
 * the oracle. Only one may run at a time in a Node process, since it takes over timers and clocks.
 */
export async function runSeed(options: SeedOptions): Promise<SeedResult> {
  const { seed, guards = guardsWithout(), without = new Set(), often, onLine } = options;
  const random = createRandom(seed);
  const faults = createFaults(createRandom(seed ^ streams.faults), without, often);
  const scheduler = createScheduler({ random, startMs });
  const trace = onLine ? traceTo(onLine, () => scheduler.now() - startMs) : () => undefined;
  const processes = startProcesses(() => world, createRandom(seed ^ streams.processes));
  const world = createWorld({ random, scheduler, faults, guards, trace, onAnswer: processes.strike });

  const restore = installVirtualTime(scheduler, createRandom(seed ^ streams.chance));
  try {
    openActivities(world);
    processes.begin();
    sendBuyers(world, processes, buyersMs);
    payEarly(world, processes);
    sendOperators(world, processes, buyersMs);
    troubleRedis(world);
    const look = watchReminders(world, processes);
    await runTo(world, startMs + faultsMs, look);
    trace('  chaos', () => 'peace');
    faults.stop();
    processes.heal();
    await runToRest(world, startMs + faultsMs + restMs, look);
  } finally {
    restore();
  }
  const violations = world.violations.length > 0 ? world.violations : checkAtRest(world);
  for (const { invariant, what } of violations) trace('  ORACLE', () => `${invariant}: ${what}`);
  const rows = [...world.database.tables.orders.values()];
  const orders = rows.filter(({ status }) => status !== 'ABORTED').length;
  return { seed, violations, orders, steps: scheduler.steps(), faults: faults.counts() };
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const lineMax = 220;

/**
 * Writes the history: seconds, who, what. Order ids become #1, #2 in the order of their first mention, so that a
 * person can follow them, and so that two histories of one seed are equal to the letter.
 */
function traceTo(onLine: (line: string) => void, elapsedMs: () => number): World['trace'] {
  const names = new Map<string, string>();
  const nameOf = (id: string): string => {
    const name = names.get(id) ?? `#${names.size + 1}`;
    names.set(id, name);
    return name;
  };
  return (who, what) => {
    const text = what().replace(uuid, nameOf);
    const seconds = (elapsedMs() / 1_000).toFixed(3).padStart(8);
    onLine(`${seconds}  ${who.padEnd(12)} ${text.length > lineMax ? `${text.slice(0, lineMax)}…` : text}`);
  };
}

/** Step by step, so that a broken invariant ends the history where it broke. */
async function runTo({ scheduler, violations }: World, untilMs: number, look: () => void): Promise<void> {
  while (scheduler.now() < untilMs && violations.length === 0) {
    await scheduler.runUntil(Math.min(untilMs, scheduler.now() + 1_000));
    look();
  }
}

async function runToRest(world: World, untilMs: number, look: () => void): Promise<void> {
  while (world.scheduler.now() < untilMs && world.violations.length === 0) {
    await runTo(world, Math.min(untilMs, world.scheduler.now() + lookEveryMs), look);
    if (checkAtRest(world).length === 0) return;
  }
}

function openActivities({ random, database }: World): void {
  for (let count = random.int(1, 2); count > 0; count -= 1) {
    const payWithinMs = random.int(15_000, 40_000);
    database.createActivity(
      createActivityBody.parse({
        name: 'A show',
        capacity: random.int(1, 4),
        priceMinor: 8_800,
        currency: 'CNY',
        quantityMax: 2,
        payWithinMs,
        paymentGraceMs: random.int(1_000, 10_000),
        latePaymentPolicy: random.pick(['refund', 'reacquire']),
        remindAfterMs: Math.floor(payWithinMs * 0.6),
      }),
    );
  }
}

/** Money for orders that are not visible: being written just now, or never. */
function payEarly(world: World, processes: Processes): void {
  const { random, scheduler, redis, database } = world;
  const payers = createPayers(world, processes);
  const again = (): void => {
    const held = [...redis.activities.values()].flatMap(({ holds }) => [...holds.values()]);
    const unwritten = held.filter(({ orderId, state }) => {
      return state === 'held' && !database.tables.orders.has(orderId);
    });
    const [hold] = unwritten;
    if (hold && random.chance(0.3)) payers.payOutside(hold.orderId, 8_800 * hold.quantity, 0);
    if (random.chance(0.02)) payers.payOutside(`nobody-${random.int(1, 9)}`, 8_800, 0);
    if (scheduler.now() < startMs + buyersMs) scheduler.after(random.int(100, 3_000), null, again);
  };
  again();
}

const redisEveryMs = 4_000;
const copiesMax = 6;

/** Redis loses everything, or comes back with an older file. */
function troubleRedis({ scheduler, random, faults, redis, trace }: World): void {
  const copies: RedisCopy[] = [];
  const again = (): void => {
    if (faults.strikes('redis-flushed')) {
      trace('  chaos', () => 'Redis is flushed');
      redis.flush();
    }
    if (copies.length > 0 && faults.strikes('redis-rolled-back')) {
      trace('  chaos', () => 'Redis is rolled back');
      redis.rollBack(random.pick(copies));
    }
    copies.push(redis.copy());
    if (copies.length > copiesMax) copies.shift();
    scheduler.after(random.int(1, redisEveryMs), null, again);
  };
  again();
}

import { type CallParts, createCallStore } from './call-store.ts';
import type { Faults } from './faults.ts';
import type { Guards } from './guards.ts';
import { createModelBroker, type ModelBroker } from './model-broker.ts';
import { createModelDatabase, type ModelDatabase } from './model-database.ts';
import { createModelProvider, type ModelProvider } from './model-provider.ts';
import { createModelRedis, type ModelRedis } from './model-redis.ts';
import type { ObservedAnswer } from './observed.ts';
import { checkAlways, type Violation } from './oracle.ts';
import type { Random } from './random.ts';
import type { Incarnation, Scheduler } from './scheduler.ts';

/** Everything there is in one run. */
export interface World {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly guards: Guards;
  readonly database: ModelDatabase;
  readonly redis: ModelRedis;
  readonly broker: ModelBroker;
  readonly provider: ModelProvider;
  readonly callStore: ReturnType<typeof createCallStore>;
  /** Transactions that a process has open, and what undoes them. */
  readonly openTransactions: Map<Incarnation, () => void>;
  readonly answers: ObservedAnswer[];
  readonly violations: Violation[];
  readonly trace: (who: string, what: () => string) => void;
  /** Buyers' and provider's doings that are not over. */
  unsettled: number;
}

export interface WorldOptions {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly guards: Guards;
  readonly trace: World['trace'];
  readonly onAnswer: CallParts['onAnswer'];
}

/** How far the clock of Redis's machine may be off: nothing may depend on it. */
const redisSkewMsMax = 90_000;
/** Between a read and the write that no longer looks, in the control without compare-and-set. */
const carelessGapMsMax = 30;

export function createWorld(options: WorldOptions): World {
  const { random, scheduler, faults, guards, trace, onAnswer } = options;
  /** Whose call takes effect now: its wall clock stands in for the database's, in that control alone. */
  let caller: Incarnation | null = null;
  const dueNow = (): number => scheduler.now() + (guards.databaseClock ? 0 : (caller?.wallSkewMs ?? 0));
  const redisSkewMs = random.int(-redisSkewMsMax, redisSkewMsMax);

  const database = createModelDatabase({
    guards,
    now: scheduler.now,
    dueNow,
    isLocked: () => faults.strikes('mysql-contended'),
    later: (run) => void scheduler.after(random.int(1, carelessGapMsMax), null, run),
  });
  const world: World = {
    random,
    scheduler,
    faults,
    guards,
    database,
    redis: createModelRedis({ guards, now: () => scheduler.now() + redisSkewMs }),
    broker: createModelBroker({ scheduler, random, faults }),
    provider: createModelProvider(scheduler),
    callStore: createCallStore({
      scheduler,
      random,
      faults,
      trace,
      onAnswer,
      onEffect: (owner, effect) => {
        caller = owner;
        try {
          return effect();
        } finally {
          caller = null;
          world.violations.push(...checkAlways(world));
        }
      },
    }),
    openTransactions: new Map(),
    answers: [],
    violations: [],
    trace,
    unsettled: 0,
  };
  return world;
}

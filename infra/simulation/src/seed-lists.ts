import type { FaultRates } from './faults.ts';
import type { GuardName } from './guards.ts';

/** How many histories `npm test` plays: 1 to this. */
export const seedsOfTest = 1_000;

/** A seed that once found a fault of the system, the guard that mended it, and the faults that it needs. */
export interface FoundSeed {
  readonly seed: number;
  readonly guard: GuardName;
  readonly often: FaultRates;
  readonly what: string;
}

/** Redis is emptied and loaded again all the time, and some loads come long after they were given up. */
export const lateLoads: FaultRates = { 'redis-flushed': 0.25, 'redis-load-late': 0.25, 'mysql-slow': 0.25 };

/**
 * Played first, for ever, and once more without the guard, where each shows its fault again. A change of the models
 * plays other histories under the same numbers: then test/negative-controls.test.ts prints new ones.
 */
export const foundSeeds: readonly FoundSeed[] = [
  {
    seed: 35,
    guard: 'loadToken',
    often: lateLoads,
    what: 'a load that takes effect after another sweeper loaded the same generation puts the older stock back',
  },
  {
    seed: 658,
    guard: 'emptinessNamed',
    often: lateLoads,
    what: 'the same, into a Redis that was empty when it left, was loaded since, and is empty again',
  },
];

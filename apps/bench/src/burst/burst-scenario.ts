import type { Scenario } from '../scenario.ts';
import type { BurstContender } from './contender.ts';
import { type BurstManner, runBurst } from './run-burst.ts';

/** Sale, schema, start and judgement of a run. */
const setUpSeconds = 8;
const setUpSecondsPerOrder = 100e-6;

export interface BurstPlan extends Omit<Scenario, 'contenders'>, BurstManner {
  readonly contenders: readonly BurstContender[];
  /** Orders a second that each does at least, for the time left alone. */
  readonly slowest: (contender: string) => number;
}

/** A scenario whose contenders do the same task, all of it due at one moment. */
export function burstScenario({ contenders, slowest, task, activities = 1, ...rest }: BurstPlan): Scenario {
  return {
    ...rest,
    contenders: contenders.map((contender) => ({
      name: contender.name,
      about: contender.about,
      ...(contender.roundsMax !== undefined && { roundsMax: contender.roundsMax }),
      seconds: (size) => secondsOf(contender, size, slowest(contender.name)),
      run: (options) => runBurst(contender, { task, activities }, options),
    })),
  };
}

function secondsOf({ ordersMax, armMs }: BurstContender, size: number, perSecond: number): number {
  const orders = Math.min(size, ordersMax);
  return setUpSeconds + orders * setUpSecondsPerOrder + armMs(orders) / 1_000 + orders / perSecond;
}

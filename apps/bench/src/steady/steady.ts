import type { Scenario } from '../scenario.ts';
import { ordersPerSecond, payWithinMs, runSteady } from './run-steady.ts';

const setUpSeconds = 20;

/** A stream of orders, none of them paid: how late does each close after its own deadline? */
export const steady: Scenario = {
  name: 'steady',
  about: `${ordersPerSecond} orders a second over HTTP, each due ${payWithinMs / 1_000} s later; lateness by the database clock`,
  size: { full: 300 * ordersPerSecond, quick: 20 * ordersPerSecond },
  contenders: [
    {
      name: 'lapse',
      about: 'producer, reminder, closer and sweeper, one process each, default settings',
      seconds: (size) => setUpSeconds + payWithinMs / 1_000 + size / ordersPerSecond,
      run: runSteady,
    },
  ],
};

import type { Scenario } from '../scenario.ts';
import { runIdle } from './run-idle.ts';

const setUpSeconds = 15;
const settleMs = 5_000;
/** The slowest loops of the sweeper come round twice. */
const secondsMax = 60;

/** What it costs to have everything running while nothing is sold. */
export const idle: Scenario = {
  name: 'idle',
  about: `every process of Lapse, one activity on sale and no orders; after ${settleMs / 1_000} s`,
  // Seconds. Its size is no number of orders.
  size: { full: secondsMax, quick: 10 },
  rounds: 1,
  contenders: [
    {
      name: 'lapse',
      about: 'producer, reminder, closer, settler and sweeper, one process each, default settings',
      seconds: (size) => setUpSeconds + Math.min(size, secondsMax),
      run: (options) => runIdle({ settleMs, watchMs: Math.min(options.size, secondsMax) * 1_000 }, options),
    },
  ],
};

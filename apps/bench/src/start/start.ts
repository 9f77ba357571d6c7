import { apps } from '../app-program.ts';
import type { Scenario } from '../scenario.ts';
import { runStart } from './run-start.ts';

const setUpSeconds = 3;
const secondsPerStart = 3;
const startsMax = 3;

/** How soon a process works that was just started, as after a crash. */
export const start: Scenario = {
  name: 'start',
  about:
    'one process of Lapse, started again and again; the time from its spawn until it says that it is ready',
  // Starts. Its size is no number of orders.
  size: { full: startsMax, quick: 2 },
  rounds: 1,
  contenders: apps.map((app) => ({
    name: app,
    about: `apps/${app}, default settings; the CPU time is that of one start`,
    seconds: (size) => setUpSeconds + Math.min(size, startsMax) * secondsPerStart,
    run: (options) => runStart(app, Math.min(options.size, startsMax), options),
  })),
};

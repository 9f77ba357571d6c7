import { describeExit, type SuperviseOptions } from '@lapse/local-services';
import type { Printer } from './print.ts';

/** Whatever dies by itself is started again for as long as the stack runs, and a person is told. */
export function keepRunning(print: Printer): SuperviseOptions {
  return {
    attemptsMax: Number.POSITIVE_INFINITY,
    onDown: (service, exit) => {
      const what = exit.program === service.name ? service.name : `${service.name} (${exit.program})`;
      print.warn(`${what} ended with ${describeExit(exit)}; starting it again (log: ${exit.logFile})`);
    },
    onUp: (service) => print.warn(`${service.name} is up again (pid ${service.pids.join(', ')})`),
    onRestartFailed: (service, error) =>
      print.warn(
        `${service.name} did not come up again: ${error instanceof Error ? error.message : String(error)}`,
      ),
  };
}

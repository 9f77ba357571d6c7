import { appProgram } from '../app-program.ts';
import { burstScenario } from '../burst/burst-scenario.ts';
import { workerNames } from '../worker-names.ts';
import { closing } from './closing.ts';
import type { CloseContender } from './contender.ts';
import { lapse } from './contenders/lapse.ts';

/** The same messages, shared among closers as the broker shares them. */
function closersOf(name: string, count: number): CloseContender {
  return {
    ...lapse,
    name,
    about: `apps/closer as it is deployed; processes: ${count}`,
    programs: (sale) => workerNames(count).map((worker) => appProgram('closer', sale, worker)),
  };
}

export const closerCounts: readonly CloseContender[] = [closersOf('one', 1), closersOf('two', 2)];

/**
 * One activity is one row: what a second closer adds there is its core. As many orders as in close-burst: with half of them
 * the second process pays more for warming up than it can win back.
 */
export const twoClosers = burstScenario({
  name: 'two-closers',
  about: 'all orders of one activity due at one moment, closed by one process and by two',
  size: { full: 100_000, quick: 10_000 },
  contenders: closerCounts,
  task: closing,
  slowest: () => 8_000,
});

import { runBurst } from './burst/run-burst.ts';
import { closing } from './close-burst/closing.ts';
import { lapse as closer } from './close-burst/contenders/lapse.ts';
import { lapse as producer } from './create/contenders/lapse.ts';
import { runCreate } from './create/run-create.ts';
import type { Outcome } from './result.ts';
import type { RunOptions, Scenario } from './scenario.ts';

/** Orders that are pending and not due meanwhile, by contender. */
const levels: Readonly<Record<string, number>> = {
  'pending-10k': 10_000,
  'pending-100k': 100_000,
  'pending-1m': 1_000_000,
};

const setUpSeconds = 15;
/** To write one of them, load it into Redis, and drop it. */
const secondsPerPending = 80e-6;

/** What an order costs to place may not depend on how many are pending. */
export const growthCreate = growthOf(
  {
    name: 'growth-create',
    about: 'orders placed over HTTP, 256 connections',
    size: { full: 20_000, quick: 1_000 },
  },
  (pending, options) => runCreate(producer, { connections: 256, isSoldOut: false, pending }, options),
);

/** Nor may what it costs to close. */
export const growthClose = growthOf(
  {
    name: 'growth-close',
    about: 'orders of one activity closed at one moment',
    size: { full: 50_000, quick: 2_000 },
  },
  (pending, options) => runBurst(closer, { task: closing, pending }, options),
);

function growthOf(
  { about, ...rest }: Pick<Scenario, 'name' | 'about' | 'size'>,
  run: (pending: number, options: RunOptions) => Promise<Outcome>,
): Scenario {
  return {
    ...rest,
    // A million rows take longer to prepare than all else; what is compared is CPU time, which hardly swings.
    rounds: 1,
    about: `${about}, beside more and more orders of other activities that are pending and not due`,
    contenders: Object.entries(levels).map(([name, pending]) => ({
      name,
      about: `${pending} orders pending`,
      seconds: (size) => setUpSeconds + size / 1_000 + pending * secondsPerPending,
      run: (options) => run(pending, options),
    })),
  };
}

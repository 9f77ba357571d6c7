import { burstScenario } from '../burst/burst-scenario.ts';
import { closeContenders } from './close-contenders.ts';
import { closing } from './closing.ts';
import { lapse } from './contenders/lapse.ts';
import { limit } from './contenders/limit.ts';

/** Orders a second that each closes at least, for the time left alone. */
const slowestOf: Readonly<Record<string, number>> = {
  limit: 15_000,
  lapse: 10_000,
  'poll-100': 20,
  'poll-1000': 200,
};
const slowestOther = 400;
const slowest = (contender: string): number => slowestOf[contender] ?? slowestOther;

/** All orders of one activity due at one moment: how soon are they closed, and what does each cost? */
export const closeBurst = burstScenario({
  name: 'close-burst',
  about: 'all orders of one activity due at one moment; the time until the last place is back in both stores',
  size: { full: 100_000, quick: 20_000 },
  contenders: closeContenders,
  task: closing,
  slowest,
});

const activities = 100;

/** No row is hot here, but a batch gives places back to many activities, in MySQL and in Redis. */
export const closeBurst100 = burstScenario({
  name: 'close-burst-100',
  about: `the same number of orders, spread evenly over ${activities} activities whose buyers came mixed`,
  size: { full: 100_000, quick: 20_000 },
  contenders: [limit, lapse],
  task: closing,
  activities,
  slowest,
});

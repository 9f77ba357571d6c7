import type { Scenario } from '../scenario.ts';
import { closeContenders } from './close-contenders.ts';
import type { CloseContender } from './contender.ts';
import { runClose } from './run-close.ts';

/** Orders a second that each closes at least, for the time left alone. */
const slowest: Readonly<Record<string, number>> = {
  limit: 15_000,
  lapse: 10_000,
  'poll-100': 20,
  'poll-1000': 200,
};
const slowestOther = 300;
/** Sale, schema, start and judgement of a run. */
const setUpSeconds = 12;
const setUpSecondsPerOrder = 100e-6;

/** All orders of one activity due at one moment: how soon are they closed, and what does each cost? */
export const closeBurst: Scenario = {
  name: 'close-burst',
  about: 'all orders of one activity due at one moment; the time until the last place is back in both stores',
  size: { full: 100_000, quick: 20_000 },
  contenders: closeContenders.map((contender) => ({
    name: contender.name,
    about: contender.about,
    seconds: (size) => secondsOf(contender, size),
    run: (options) => runClose(contender, options),
  })),
};

function secondsOf({ name, ordersMax, armMs }: CloseContender, size: number): number {
  const orders = Math.min(size, ordersMax);
  const closing = orders / (slowest[name] ?? slowestOther);
  return setUpSeconds + orders * setUpSecondsPerOrder + armMs(orders) / 1_000 + closing;
}

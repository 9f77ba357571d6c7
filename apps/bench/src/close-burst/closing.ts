import { sleep } from '@lapse/runtime';
import type { BurstTask, WatchedStores } from '../burst/burst-task.ts';
import { readLateness } from '../burst/read-lateness.ts';
import { readPlacesFree, readPlacesInRedis } from '../read-places-free.ts';
import type { Sale } from '../sale.ts';
import { judgeClosed } from './judge-closed.ts';

/** What follows a close, an acknowledgement or a job's removal, is part of its cost. */
const trailMs = 500;

/** All orders are unpaid at their deadline. Every place was sold, so those that are free again count the closed ones. */
export const closing: BurstTask = {
  name: 'close',
  dueColumn: 'expires_at',
  countDone: countPlacesFree,
  settle: (_stores, _sale, _contender, signal) => sleep(trailMs, signal),
  judge: judgeClosed,
  readLateness: ({ mysql, postgres }, { activities }) =>
    postgres?.readLateness() ?? readLateness(mysql, activities),
};

async function countPlacesFree({ mysql, redis, postgres }: WatchedStores, { activities }: Sale) {
  if (postgres === undefined) return await readPlacesFree({ mysql, redis }, activities);
  return { redis: await readPlacesInRedis(redis, activities), postgres: await postgres.countFree() };
}

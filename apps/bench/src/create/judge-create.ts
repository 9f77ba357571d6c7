import { sleep } from '@lapse/runtime';
import { checkInvariants } from '@lapse/testing';
import type { RowDataPacket } from 'mysql2/promise';
import type { RunStores } from '../open-stores.ts';
import { readPlacesFree } from '../read-places-free.ts';
import type { Sale } from '../sale.ts';
import type { HttpContender } from './http-contender.ts';

/** The last outbox rows are sent a moment after their answer. */
const restMs = 10_000;
const lookEveryMs = 200;

/**
 * Each order that was answered with 201 is there once, in every store that the contender writes, and its place is gone.
 * @returns why the run has no figure; empty when nothing is wrong.
 */
export async function judgeCreate(
  stores: RunStores,
  { activities, activityId, orders: places }: Sale,
  sold: number,
  judgedBy: HttpContender['judgedBy'],
): Promise<readonly string[]> {
  const free = await readPlacesFree(stores, activities);
  const users = await stores.redis.scard(`activity:{${activityId}}:users`);
  const orders = await count(stores, `SELECT COUNT(*) AS n FROM orders WHERE activity_id = ${activityId}`);
  const inMysql = judgedBy === 'redis' ? 0 : sold;
  const counts: readonly (readonly [string, number, number])[] = [
    ['places free in Redis', free.redis, places - sold],
    ['buyers in Redis', users, sold],
    ['places free in MySQL', free.mysql, places - inMysql],
    ['orders', orders, inMysql],
  ];
  const faults = counts
    .filter(([, found, wanted]) => found !== wanted)
    .map(([what, found, wanted]) => `${what}: ${found} instead of ${wanted}`);
  return judgedBy === 'oracle' ? [...faults, ...(await judgeByOracle(stores, activityId))] : faults;
}

/** All invariants of a system at rest, and every message sent. I11 as a whole asks for processes that do not run here. */
async function judgeByOracle(stores: RunStores, activityId: number): Promise<readonly string[]> {
  const { mysqlUrl, redisUrl } = stores;
  const giveUpAt = performance.now() + restMs;
  const unsent = 'SELECT COUNT(*) AS n FROM message_outbox WHERE sent_at IS NULL';
  while ((await count(stores, unsent)) > 0 && performance.now() < giveUpAt) await sleep(lookEveryMs);
  const left = await count(stores, unsent);
  const { failed } = await checkInvariants({
    mysqlUrl,
    redisUrl,
    atRest: true,
    activityIds: [activityId],
  });
  return [
    ...failed.filter(({ id }) => id !== 'I11').map(({ id, detail }) => `${id}: ${detail}`),
    ...(left === 0 ? [] : [`outbox rows not sent: ${left}`]),
  ];
}

async function count({ mysql }: RunStores, sql: string): Promise<number> {
  const [[row]] = await mysql.query<RowDataPacket[]>(sql);
  return Number(row?.n);
}

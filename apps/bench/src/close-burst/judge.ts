import { sleep } from '@lapse/runtime';
import { checkInvariants } from '@lapse/testing';
import type { RowDataPacket } from 'mysql2/promise';
import type { RunStores } from '../open-stores.ts';
import { readPlacesFree } from './await-closed.ts';
import type { CloseContender } from './contender.ts';

/** Why a run has no figure: empty when nothing is wrong. */
export type Faults = readonly string[];

/** The last Redis effects are marked as applied after the stock is back. */
const restMs = 5_000;
const lookEveryMs = 100;

/** Judge a run whose work is done: none lost, none twice, none early. */
export function judge(
  stores: RunStores,
  activityId: number,
  orders: number,
  judgedBy: CloseContender['judgedBy'],
): Promise<Faults> {
  return judgedBy === 'oracle' ? judgeByOracle(stores, orders) : judgeByCounts(stores, activityId, orders);
}

/** For who has no ledger: each order closed, each place back, each buyer gone; exactly. */
async function judgeByCounts(stores: RunStores, activityId: number, orders: number): Promise<Faults> {
  const [[row]] = await stores.mysql.query<RowDataPacket[]>(
    `SELECT COUNT(*) AS total, SUM(status = 'TIMEOUT_CLOSED') AS closed, SUM(closed_at < expires_at) AS early
     FROM orders WHERE activity_id = ?`,
    [activityId],
  );
  const free = await readPlacesFree(stores, activityId);
  const users = await stores.redis.scard(`activity:{${activityId}}:users`);
  const counts: readonly (readonly [string, number, number])[] = [
    ['orders', Number(row?.total), orders],
    ['orders closed', Number(row?.closed), orders],
    ['orders closed early', Number(row?.early), 0],
    ['places free in MySQL', free.mysql, orders],
    ['places free in Redis', free.redis, orders],
    ['buyers left in Redis', users, 0],
  ];
  return counts
    .filter(([, found, wanted]) => found !== wanted)
    .map(([what, found, wanted]) => `${what}: ${found} instead of ${wanted}`);
}

/**
 * All invariants of a system at rest, but I11 in full: it asks for reminders and notices, which have no process here.
 * Of I11 remains that no stock effect is left and nothing is parked.
 */
async function judgeByOracle(stores: RunStores, orders: number): Promise<Faults> {
  const giveUpAt = performance.now() + restMs;
  for (;;) {
    const faults = await readVerdict(stores, orders);
    if (faults.length === 0 || performance.now() >= giveUpAt) return faults;
    await sleep(lookEveryMs);
  }
}

async function readVerdict({ mysqlUrl, redisUrl, mysql }: RunStores, orders: number): Promise<Faults> {
  const { failed, counts } = await checkInvariants({ mysqlUrl, redisUrl, atRest: true });
  const [[left]] = await mysql.query<RowDataPacket[]>(
    "SELECT COUNT(*) AS n FROM effect WHERE kind = 'release'",
  );
  const closed = counts.orders.TIMEOUT_CLOSED;
  const parked = counts.parked.orders + counts.parked.messages;
  return [
    ...failed.filter(({ id }) => id !== 'I11').map(({ id, detail }) => `${id}: ${detail}`),
    ...(closed === orders ? [] : [`orders closed: ${closed} instead of ${orders}`]),
    ...(Number(left?.n) === 0 ? [] : [`stock effects left: ${left?.n}`]),
    ...(parked === 0 ? [] : [`orders or messages parked: ${parked}`]),
  ];
}

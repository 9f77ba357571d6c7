import { sleep } from '@lapse/runtime';
import { checkInvariants } from '@lapse/testing';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import type { Faults } from '../burst/burst-task.ts';
import type { BurstContender } from '../burst/contender.ts';
import type { ActivityCounts } from '../open-postgres-store.ts';
import type { RunStores } from '../open-stores.ts';
import { readPlacesInRedis } from '../read-places-free.ts';
import { idsOf, type Sale, type SaleActivity } from '../sale.ts';

/** The last Redis effects are marked as applied after the stock is back. */
const restMs = 5_000;
const lookEveryMs = 100;

/** Judge a run whose orders are to be closed: none lost, none twice, none early. */
export async function judgeClosed(
  stores: RunStores,
  sale: Sale,
  { judgedBy }: BurstContender,
): Promise<Faults> {
  if (judgedBy === 'oracle') return judgeByOracle(stores, sale);
  const faults: string[] = [];
  for (const activity of sale.activities) faults.push(...(await judgeByCounts(stores, activity)));
  return faults;
}

/** For who has no ledger: each order closed, each place back, each buyer gone; exactly. */
async function judgeByCounts(stores: RunStores, activity: SaleActivity): Promise<Faults> {
  const { id, places } = activity;
  const database = stores.postgres ? 'PostgreSQL' : 'MySQL';
  const { total, closed, early, free } = await (stores.postgres?.countActivity(id) ??
    countInMysql(stores.mysql, id));
  const inRedis = await readPlacesInRedis(stores.redis, [activity]);
  const users = await stores.redis.scard(`activity:{${id}}:users`);
  const counts: readonly (readonly [string, number, number])[] = [
    ['orders', total, places],
    ['orders closed', closed, places],
    ['orders closed early', early, 0],
    [`places free in ${database}`, free, places],
    ['places free in Redis', inRedis, places],
    ['buyers left in Redis', users, 0],
  ];
  return counts
    .filter(([, found, wanted]) => found !== wanted)
    .map(([what, found, wanted]) => `${what}: ${found} instead of ${wanted}`);
}

async function countInMysql(mysql: Pool, activityId: number): Promise<ActivityCounts> {
  const [[row]] = await mysql.query<RowDataPacket[]>(
    `SELECT COUNT(*) AS total, SUM(status = 'TIMEOUT_CLOSED') AS closed, SUM(closed_at < expires_at) AS early,
       (SELECT available FROM activity WHERE id = ?) AS free
     FROM orders WHERE activity_id = ?`,
    [activityId, activityId],
  );
  return {
    total: Number(row?.total),
    closed: Number(row?.closed),
    early: Number(row?.early),
    free: Number(row?.free),
  };
}

/**
 * All invariants of a system at rest, but I11 in full: it asks for reminders and notices, which have no process here.
 * Of I11 remains that no stock effect is left and nothing is parked.
 */
async function judgeByOracle(stores: RunStores, sale: Sale): Promise<Faults> {
  const giveUpAt = performance.now() + restMs;
  for (;;) {
    const faults = await readVerdict(stores, sale);
    if (faults.length === 0 || performance.now() >= giveUpAt) return faults;
    await sleep(lookEveryMs);
  }
}

async function readVerdict({ mysqlUrl, redisUrl, mysql }: RunStores, sale: Sale): Promise<Faults> {
  const { failed, counts } = await checkInvariants({
    mysqlUrl,
    redisUrl,
    atRest: true,
    activityIds: idsOf(sale.activities),
  });
  const [[left]] = await mysql.query<RowDataPacket[]>(
    "SELECT COUNT(*) AS n FROM effect WHERE kind = 'release'",
  );
  const closed = counts.orders.TIMEOUT_CLOSED;
  const parked = counts.parked.orders + counts.parked.messages;
  return [
    ...failed.filter(({ id }) => id !== 'I11').map(({ id, detail }) => `${id}: ${detail}`),
    ...(closed === sale.orders ? [] : [`orders closed: ${closed} instead of ${sale.orders}`]),
    ...(Number(left?.n) === 0 ? [] : [`stock effects left: ${left?.n}`]),
    ...(parked === 0 ? [] : [`orders or messages parked: ${parked}`]),
  ];
}

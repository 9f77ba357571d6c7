import { sleep } from '@lapse/runtime';
import { checkInvariants } from '@lapse/testing';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import type { Faults } from '../burst/burst-task.ts';
import type { BurstContender } from '../burst/contender.ts';
import type { RunStores } from '../open-stores.ts';
import { idsOf, type Sale } from '../sale.ts';

/** The last messages of phase 2 are marked as sent after they are. */
const restMs = 10_000;
const lookEveryMs = 100;
/** Notices that still wait to be delivered are no fault here. */
const noticeWaitMs = 3_600_000;

/** Judge a run whose orders are to be reminded: each once, none early, each with its notice and its closing message. */
export async function judgeReminded(
  stores: RunStores,
  sale: Sale,
  { judgedBy }: BurstContender,
): Promise<Faults> {
  if (judgedBy === 'counts') return await judgeByCounts(stores, sale, 'no message');
  const giveUpAt = performance.now() + restMs;
  for (;;) {
    const faults = await judgeByCounts(stores, sale, 'sent');
    if (faults.length === 0) return await judgeByOracle(stores, sale);
    if (performance.now() >= giveUpAt) return faults;
    await sleep(lookEveryMs);
  }
}

async function judgeByCounts(
  { mysql }: RunStores,
  { activities, orders }: Sale,
  messages: 'sent' | 'no message',
): Promise<Faults> {
  const ids = idsOf(activities);
  const reminded = await count(
    mysql,
    "SELECT COUNT(*) AS n FROM orders WHERE activity_id IN (?) AND status = 'PENDING' AND reminded_at IS NOT NULL",
    [ids],
  );
  const early = await count(
    mysql,
    'SELECT COUNT(*) AS n FROM orders WHERE activity_id IN (?) AND reminded_at < remind_at',
    [ids],
  );
  const notices = await count(mysql, "SELECT COUNT(*) AS n FROM notification WHERE stage = 'REMINDER'");
  const closing = await count(
    mysql,
    `SELECT COALESCE(SUM(order_count), 0) AS n FROM message_outbox WHERE phase = 2
     ${messages === 'sent' ? 'AND sent_at IS NOT NULL' : ''}`,
  );
  const counts: readonly (readonly [string, number, number])[] = [
    ['orders reminded', reminded, orders],
    ['orders reminded early', early, 0],
    ['notices', notices, orders],
    [messages === 'sent' ? 'orders in closing messages sent' : 'orders in outbox rows', closing, orders],
  ];
  return counts
    .filter(([, found, wanted]) => found !== wanted)
    .map(([what, found, wanted]) => `${what}: ${found} instead of ${wanted}`);
}

/** All invariants of a system at rest, but that notices may still wait. */
async function judgeByOracle({ mysqlUrl, redisUrl }: RunStores, { activities }: Sale): Promise<Faults> {
  const { failed } = await checkInvariants({
    mysqlUrl,
    redisUrl,
    atRest: true,
    activityIds: idsOf(activities),
    noticeWaitMs,
  });
  return failed.map(({ id, detail }) => `${id}: ${detail}`);
}

async function count(mysql: Pool, sql: string, values: readonly unknown[] = []): Promise<number> {
  const [[row]] = await mysql.query<RowDataPacket[]>(sql, [...values]);
  return Number(row?.n);
}

import { sleep } from '@lapse/runtime';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import type { BurstTask } from '../burst/burst-task.ts';
import { readLateness } from '../burst/read-lateness.ts';
import { judgeReminded } from './judge-reminded.ts';

/** The messages of phase 2 follow the claim, and are part of its cost. */
const sendMsMax = 30_000;
const lookEveryMs = 50;

/**
 * All orders are unpaid at their reminder. One is done once its claim is committed: its reminder time, its notice and
 * the outbox row that brings its close. Delivering the notices is another task; it begins meanwhile.
 */
export const reminding: BurstTask = {
  name: 'remind',
  dueColumn: 'remind_at',
  // One row for each transaction that claims, with the number of its orders: what is read is small.
  countDone: async ({ mysql }) => ({ mysql: await countOrders(mysql, 'phase = 2') }),
  settle: async ({ mysql }, { orders }, { queue }, signal) => {
    if (queue === null) return;
    const giveUpAt = performance.now() + sendMsMax;
    while (performance.now() < giveUpAt && !signal.aborted) {
      if ((await countOrders(mysql, 'phase = 2 AND sent_at IS NOT NULL')) >= orders) return;
      await sleep(lookEveryMs, signal);
    }
  },
  judge: judgeReminded,
  readLateness: ({ mysql }, { activities }) =>
    readLateness(mysql, activities, { due: 'remind_at', done: 'reminded_at', rows: 'orders' }),
};

async function countOrders(mysql: Pool, where: string): Promise<number> {
  const [[row]] = await mysql.query<RowDataPacket[]>(
    `SELECT COALESCE(SUM(order_count), 0) AS n FROM message_outbox WHERE ${where}`,
  );
  return Number(row?.n);
}

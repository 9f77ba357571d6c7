import { sleep } from '@lapse/runtime';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { idsOf, type Sale } from '../sale.ts';
import type { BurstTask } from './burst-task.ts';
import { readDeadline } from './read-deadline.ts';

/** From 2,000 on, larger batches cost the same per order. */
export const ordersPerBatch = 2_000;

export interface BareOrder {
  readonly id: Buffer;
  readonly activityId: number;
}

/**
 * What the stores can do on this machine: nothing wakes it but a timer, it knows all orders beforehand, and it takes
 * them one activity after the other, so that a batch touches as few of them as possible. One transaction a batch,
 * one batch after the other.
 */
export async function bareLoop(
  sale: Sale,
  column: BurstTask['dueColumn'],
  ready: () => void,
  handleBatch: (mysql: Connection, orders: readonly BareOrder[]) => Promise<void>,
): Promise<void> {
  const mysql = await createConnection({ uri: sale.mysqlUrl, timezone: 'Z' });
  await mysql.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  const [rows] = await mysql.query<RowDataPacket[]>(
    'SELECT id, activity_id FROM orders WHERE activity_id IN (?) ORDER BY activity_id, id',
    [idsOf(sale.activities)],
  );
  const all = rows.map(({ id, activity_id }): BareOrder => ({ id, activityId: activity_id }));
  ready();
  await sleep((await readDeadline(sale, column)) - Date.now());
  for (let at = 0; at < all.length; at += ordersPerBatch) {
    await handleBatch(mysql, all.slice(at, at + ordersPerBatch));
  }
}

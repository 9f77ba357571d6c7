import type { Redis } from 'ioredis';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { dieAt } from './die-at.ts';

export interface DueOrder {
  readonly orderId: string;
  readonly activityId: number;
  readonly userId: string;
}

/**
 * Close one order the way it is usually written: MySQL in a transaction, COMMIT, then Redis INCR, then SREM.
 * Between these steps nothing remembers what is still to be done, and that is the fault: a process that dies
 * after COMMIT leaves a place that is free in MySQL and gone in Redis; its message comes again, finds the
 * order closed, and skips it. Kept as written; do not mend it.
 */
export async function closeOrder(mysql: Connection, redis: Redis, order: DueOrder): Promise<void> {
  const id = Buffer.from(order.orderId.replaceAll('-', ''), 'hex');
  await mysql.beginTransaction();
  const [rows] = await mysql.query<RowDataPacket[]>(
    'SELECT status, quantity FROM orders WHERE id = ? FOR UPDATE',
    [id],
  );
  const row = rows[0];
  if (row?.status !== 'PENDING') {
    await mysql.rollback();
    return;
  }
  await mysql.query("UPDATE orders SET status = 'TIMEOUT_CLOSED', closed_at = NOW(3) WHERE id = ?", [id]);
  await mysql.query('UPDATE activity SET available = available + ? WHERE id = ?', [
    row.quantity,
    order.activityId,
  ]);
  dieAt('before-commit');
  await mysql.commit();
  dieAt('after-commit');
  await redis.incrby(`activity:{${order.activityId}}:stock`, row.quantity);
  dieAt('after-incr');
  await redis.srem(`activity:{${order.activityId}}:users`, order.userId);
  dieAt('after-srem');
}

import { randomUUID } from 'node:crypto';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { type BareOrder, bareLoop, ordersPerBatch } from '../burst/bare-loop.ts';
import type { BurstContender } from '../burst/contender.ts';

/** The same rows as the reminder writes, and nothing else: no message comes, none goes, no notice is delivered. */
export const limit: BurstContender = {
  name: 'limit',
  about: `bare loop: transactions of ${ordersPerBatch} orders with a notice each and an outbox row; no broker, nothing delivered`,
  judgedBy: 'counts',
  roundsMax: 1,
  ordersMax: Number.POSITIVE_INFINITY,
  queue: null,
  armMs: () => 0,
  work: (sale, ready) => bareLoop(sale, 'remind_at', ready, remindBatch),
};

async function remindBatch(mysql: Connection, orders: readonly BareOrder[]): Promise<void> {
  await mysql.query('START TRANSACTION');
  const [due] = await mysql.query<RowDataPacket[]>(
    `SELECT id, activity_id AS activityId, user_id AS userId, created_at AS createdAt, expires_at AS expiresAt
     FROM orders FORCE INDEX (PRIMARY)
     WHERE id IN (?) AND status = 'PENDING' AND reminded_at IS NULL AND remind_at <= NOW(3)
     ORDER BY id FOR UPDATE SKIP LOCKED`,
    [orders.map(({ id }) => id)],
  );
  const ids = due.map(({ id }) => id as Buffer);
  const outboxId = Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
  await mysql.query(
    `UPDATE orders FORCE INDEX (PRIMARY) SET reminded_at = NOW(3), close_outbox_id = ?
     WHERE id IN (?) AND status = 'PENDING' AND reminded_at IS NULL`,
    [outboxId, ids],
  );
  await mysql.query(
    `INSERT INTO notification (order_id, stage, next_attempt_at, created_at)
     SELECT id, 'REMINDER', reminded_at, reminded_at FROM orders FORCE INDEX (PRIMARY) WHERE id IN (?)`,
    [ids],
  );
  const body = due.map(({ id, activityId, userId, createdAt, expiresAt }) => ({
    orderId: id.toString('hex'),
    activityId,
    userId: userId.toString('utf8'),
    createTime: createdAt.getTime(),
    dueTime: expiresAt.getTime(),
  }));
  await mysql.query(
    `INSERT INTO message_outbox (id, phase, body, order_count, due_at, created_at) VALUES (?, 2, ?, ?, ?, NOW(3))`,
    [outboxId, JSON.stringify(body), ids.length, due[0]?.expiresAt],
  );
  await mysql.query('COMMIT');
}

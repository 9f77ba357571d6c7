import { idFromBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { WaitingKind, WaitingRow } from './order-views.ts';
import { withRetriedSession } from './transaction.ts';

interface Row {
  readonly id: Buffer | number;
  readonly what: string;
  readonly order_id: Buffer | null;
  readonly orders: number;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly created_at: Date;
}

/** What each of the numbers of `readWorkToDo` counts. */
const selects: Readonly<Record<WaitingKind, string>> = {
  outbox: `SELECT id, IF(phase = 1, 'reminder', 'deadline') AS what, NULL AS order_id, order_count AS orders, attempts,
      last_error, created_at
    FROM message_outbox WHERE sent_at IS NULL`,
  effects: `SELECT id, CONCAT(kind, IF(activity_id IS NULL, '', CONCAT(' of activity ', activity_id))) AS what,
      NULL AS order_id, CAST(LENGTH(order_ids) DIV 16 AS UNSIGNED) AS orders, attempts, NULL AS last_error, created_at
    FROM effect`,
  notices: `SELECT id, stage AS what, order_id, 1 AS orders, attempts, last_error, created_at
    FROM notification WHERE state = 'WAITING' AND attempts > 1`,
};

/** The rows behind a number of `readWorkToDo`, the oldest first. Locks nothing. */
export function listWaiting(database: Database, kind: WaitingKind, limit: number): Promise<WaitingRow[]> {
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<Row>(`${selects[kind]} ORDER BY created_at LIMIT ?`, [limit]);
    return rows.map(({ id, what, order_id, orders, attempts, last_error, created_at }) => ({
      id: Buffer.isBuffer(id) ? idFromBytes(id) : String(id),
      what,
      orderId: order_id === null ? null : idFromBytes(order_id),
      orders: Number(orders),
      attempts,
      lastError: last_error,
      createdAt: created_at,
    }));
  });
}

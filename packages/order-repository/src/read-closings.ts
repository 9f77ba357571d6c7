import type { Database } from './database.ts';
import type { OrdersByStatus } from './order-views.ts';
import { withRetriedSession } from './transaction.ts';

/**
 * Orders by status, those alone whose deadline is still to come or was at most so long ago: finished orders are kept
 * for ever, and to count them all would cost more every day. By the index alone.
 */
export function countByStatus(database: Database, { sinceMs }: { sinceMs: number }): Promise<OrdersByStatus> {
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<{ status: keyof OrdersByStatus; orders: number }>(
      `SELECT status, COUNT(*) AS orders FROM orders FORCE INDEX (orders_overdue)
       WHERE status IN ('PENDING', 'PAID', 'TIMEOUT_CLOSED', 'CANCELLED')
         AND expires_at > NOW(3) - INTERVAL ? MICROSECOND
       GROUP BY status`,
      [sinceMs * 1_000],
    );
    const counts = { PENDING: 0, PAID: 0, TIMEOUT_CLOSED: 0, CANCELLED: 0 };
    for (const { status, orders } of rows) counts[status] = Number(orders);
    return counts;
  });
}

/**
 * The orders that the objective is about, as the metric counts them: closed by a message or a sweep, or because a grace was
 * over. What the settler closes otherwise waited for a payment that came to nothing, and what a hand closes is the operator's. Part of SQL; the cause is asked for
 * order by order, because an EXISTS may be made a join that begins with the transitions.
 */
export const closedSince = `status = 'TIMEOUT_CLOSED' AND expires_at > NOW(3) - INTERVAL ? MICROSECOND
         AND (SELECT t.cause FROM order_transition t
              WHERE t.order_id = orders.id AND t.version = orders.version) IN ('message', 'sweep')`;

/** The latest deadlines first. */
export function readLateness(
  database: Database,
  { sinceMs, limit }: { sinceMs: number; limit: number },
): Promise<number[]> {
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<{ late_us: number }>(
      `SELECT TIMESTAMPDIFF(MICROSECOND, expires_at, closed_at) AS late_us
       FROM orders FORCE INDEX (orders_overdue)
       WHERE ${closedSince}
       ORDER BY expires_at DESC LIMIT ?`,
      [sinceMs * 1_000, limit],
    );
    return rows.map((row) => Math.round(Number(row.late_us) / 1_000));
  });
}

import type { Database } from './database.ts';
import type { DueDeadlines, DueMinute } from './order-views.ts';
import { withRetriedSession } from './transaction.ts';

/** The next deadlines of pending orders, whatever their activity: when places may come back at the soonest. */
export function readDueDeadlines(database: Database, limit: number): Promise<DueDeadlines> {
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<{ activity_id: number; expires_at: Date; quantity: number }>(
      `SELECT activity_id, expires_at, quantity FROM orders FORCE INDEX (orders_overdue)
       WHERE status = 'PENDING' ORDER BY expires_at LIMIT ?`,
      [limit],
    );
    return {
      deadlines: rows.map((row) => ({
        activityId: row.activity_id,
        expiresAt: row.expires_at,
        quantity: row.quantity,
      })),
      cut: rows.length === limit,
    };
  });
}

/** By the index alone: 0.2 s for a million. */
export function countDueMinutes(database: Database, minutes: number): Promise<DueMinute[]> {
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<{ minute: number; orders: number }>(
      `SELECT GREATEST(0, FLOOR(TIMESTAMPDIFF(MICROSECOND, NOW(3), expires_at) / 60000000)) AS minute,
         COUNT(*) AS orders
       FROM orders FORCE INDEX (orders_overdue)
       WHERE status = 'PENDING' AND expires_at < NOW(3) + INTERVAL ? MINUTE
       GROUP BY minute ORDER BY minute`,
      [minutes],
    );
    return rows.map(({ minute, orders }) => ({ minute: Number(minute), orders: Number(orders) }));
  });
}

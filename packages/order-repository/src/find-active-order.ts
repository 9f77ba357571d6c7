import type { Database } from './database.ts';
import type { Order } from './order.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import { withRetriedSession } from './transaction.ts';
import { userToBytes } from './user-bytes.ts';

/** The buyer's PENDING or PAID order of the activity. There is at most one: a unique key says so. */
export function findActiveOrder(
  database: Database,
  activityId: number,
  userId: string,
): Promise<Order | undefined> {
  return withRetriedSession(database, async (session) => {
    const [row] = await session.rows<OrderRow>(
      `SELECT ${orderColumns} FROM orders WHERE activity_id = ? AND active_user = ?`,
      [activityId, userToBytes(userId)],
    );
    return row && toOrder(row);
  });
}

import type { ActiveOrder } from './audit.ts';
import { idFromBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { withRetriedSession } from './transaction.ts';
import { userFromBytes, userToBytes } from './user-bytes.ts';

interface ActiveRow {
  readonly id: Buffer;
  readonly user_id: Buffer;
  readonly quantity: number;
  readonly status: ActiveOrder['status'];
  readonly version: number;
}

/**
 * A page of an activity's active orders, in the order of their users (byte by byte); the next page starts after the
 * last user of this one, null is the first. Locks nothing: orders may come and go between two pages.
 */
export async function readActiveOrders(
  database: Database,
  activityId: number,
  { afterUserId, limit }: { readonly afterUserId: string | null; readonly limit: number },
): Promise<ActiveOrder[]> {
  const rows = await withRetriedSession(database, (session) =>
    session.rows<ActiveRow>(
      `SELECT id, user_id, quantity, status, version FROM orders FORCE INDEX (orders_active_user)
       WHERE activity_id = ? AND active_user > ? ORDER BY active_user LIMIT ?`,
      // No user is empty, so the empty one comes before all.
      [activityId, userToBytes(afterUserId ?? ''), limit],
    ),
  );
  return rows.map(({ id, user_id, ...row }) => ({
    orderId: idFromBytes(id),
    userId: userFromBytes(user_id),
    ...row,
  }));
}

import { idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { Order } from './order.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import type { OrderFilter, OrderSearch } from './order-search.ts';
import type { Session } from './session.ts';
import { withRetriedSession } from './transaction.ts';
import { userToBytes } from './user-bytes.ts';

/** Most orders of one page. */
const pageMax = 500;
/** Above every UUID of version 7. */
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Find orders by who bought, what was bought, or the payment that was made for them; newest first, a page at a time.
 * Every way has an index, and of a large activity no more than the index is read to find the page. Locks nothing.
 */
export function findOrders(database: Database, { filter, beforeId, limit }: OrderSearch): Promise<Order[]> {
  return withRetriedSession(database, async (session) => {
    const ids = await selectIds(session, filter, idToBytes(beforeId ?? lastId), Math.min(limit, pageMax));
    if (ids.length === 0) return [];
    const rows = await session.rows<OrderRow>(
      `SELECT ${orderColumns} FROM orders FORCE INDEX (PRIMARY) WHERE id IN (?) ORDER BY id DESC`,
      [ids],
    );
    return rows.map(toOrder);
  });
}

async function selectIds(
  session: Session,
  filter: OrderFilter,
  beforeId: Buffer,
  limit: number,
): Promise<Buffer[]> {
  const [from, values] = sourceOf(filter);
  const rows = await session.rows<{ id: Buffer }>(
    `SELECT DISTINCT id FROM (${from}) found WHERE id < ? ORDER BY id DESC LIMIT ?`,
    [...values, beforeId, limit],
  );
  return rows.map(({ id }) => id);
}

/** Orders by an index, and the values to look for. A payment names its order before that is written: then there is none. */
function sourceOf(filter: OrderFilter): [sql: string, values: readonly (Buffer | number)[]] {
  switch (filter.by) {
    case 'order':
      return ['SELECT id FROM orders FORCE INDEX (PRIMARY) WHERE id = ?', [idToBytes(filter.orderId)]];
    case 'user':
      return [
        `SELECT id FROM orders FORCE INDEX (orders_idempotency_key)
         WHERE user_id = ? ${filter.activityId === undefined ? '' : 'AND activity_id = ?'}`,
        [userToBytes(filter.userId), ...(filter.activityId === undefined ? [] : [filter.activityId])],
      ];
    case 'activity':
      return [
        'SELECT id FROM orders FORCE INDEX (orders_active_user) WHERE activity_id = ?',
        [filter.activityId],
      ];
    case 'payment':
      return [
        'SELECT order_id AS id FROM payment FORCE INDEX (payment_once) WHERE payment_id = ?',
        [Buffer.from(filter.paymentId)],
      ];
  }
}

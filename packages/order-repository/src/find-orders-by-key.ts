import type { Database } from './database.ts';
import type { Order } from './order.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import type { Session } from './session.ts';
import { withRetriedSession } from './transaction.ts';
import { userToBytes } from './user-bytes.ts';

export interface OrderKey {
  readonly userId: string;
  readonly idempotencyKey: string;
}

/** The orders made with these idempotency keys, in the order of the input; undefined where there is none. */
export function findOrdersByKey(
  database: Database,
  keys: readonly OrderKey[],
): Promise<(Order | undefined)[]> {
  if (keys.length === 0) return Promise.resolve([]);
  return withRetriedSession(database, (session) => selectOrdersByKey(session, keys));
}

export async function selectOrdersByKey(
  session: Session,
  keys: readonly OrderKey[],
): Promise<(Order | undefined)[]> {
  // Row values in IN: a range on the unique key, in MySQL and in MariaDB.
  const rows = await session.rows<OrderRow>(
    `SELECT ${orderColumns} FROM orders FORCE INDEX (orders_idempotency_key)
     WHERE (user_id, idempotency_key) IN (?)`,
    [keys.map(({ userId, idempotencyKey }) => [userToBytes(userId), Buffer.from(idempotencyKey, 'latin1')])],
  );
  const byKey = new Map(rows.map(toOrder).map((order) => [nameOf(order), order]));
  return keys.map((key) => byKey.get(nameOf(key)));
}

/** A key cannot hold a space, so no two pairs share a name. */
function nameOf({ userId, idempotencyKey }: OrderKey): string {
  return `${idempotencyKey} ${userId}`;
}

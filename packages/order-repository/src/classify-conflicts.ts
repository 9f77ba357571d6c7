import { idFromBytes, idToBytes } from './binary-id.ts';
import type { CreateResult, NewOrder } from './create-result.ts';
import { selectOrdersByKey } from './find-orders-by-key.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import type { Session } from './session.ts';
import { userToBytes } from './user-bytes.ts';

/**
 * Why these orders cannot be inserted: what is there already, in this precedence: the same key, the same id
 * (an ABORTED fence, so the hold no longer counts), an active order of the same buyer.
 * @returns only those that something explains; the rest may be inserted.
 */
export async function classifyConflicts(
  session: Session,
  orders: readonly NewOrder[],
): Promise<Map<NewOrder, CreateResult>> {
  const results = new Map<NewOrder, CreateResult>();
  const byKey = await selectOrdersByKey(session, orders);
  orders.forEach((order, index) => {
    const found = byKey[index];
    if (found) results.set(order, { kind: 'same_key', order: found });
  });
  await classifyByBuyer(
    session,
    orders.filter((order) => !results.has(order)),
    results,
  );
  await classifyById(session, orders, results);
  return results;
}

async function classifyByBuyer(
  session: Session,
  orders: readonly NewOrder[],
  results: Map<NewOrder, CreateResult>,
): Promise<void> {
  if (orders.length === 0) return;
  const rows = await session.rows<OrderRow>(
    `SELECT ${orderColumns} FROM orders FORCE INDEX (orders_active_user)
     WHERE (activity_id, active_user) IN (?)`,
    [orders.map(({ activityId, userId }) => [activityId, userToBytes(userId)])],
  );
  const active = new Map(rows.map(toOrder).map((order) => [`${order.activityId} ${order.userId}`, order]));
  for (const order of orders) {
    const found = active.get(`${order.activityId} ${order.userId}`);
    if (found) results.set(order, { kind: 'already_holding', order: found });
  }
}

/** An id that is there under another key, or none: fenced by the sweeper. It takes precedence over a holder. */
async function classifyById(
  session: Session,
  orders: readonly NewOrder[],
  results: Map<NewOrder, CreateResult>,
): Promise<void> {
  const open = orders.filter((order) => results.get(order)?.kind !== 'same_key');
  if (open.length === 0) return;
  const rows = await session.rows<{ id: Buffer }>('SELECT id FROM orders WHERE id IN (?)', [
    open.map(({ id }) => idToBytes(id)),
  ]);
  const taken = new Set(rows.map(({ id }) => idFromBytes(id)));
  for (const order of open) if (taken.has(order.id)) results.set(order, { kind: 'stale_generation' });
}

import { idToBytes, newId } from './binary-id.ts';
import { InvariantError, StoreUnavailableError } from './errors.ts';
import { orLocked } from './find-locked.ts';
import { insertShopEvents } from './insert-shop-events.ts';
import { insertReacquireEffect } from './insert-stock-effect.ts';
import { isDuplicateKey } from './mysql-fault.ts';
import type { Order } from './order.ts';
import type { PaymentEvent } from './payment.ts';
import type { Session } from './session.ts';
import type { StockEffect } from './stock-effect.ts';
import { keepLatePayment } from './write-payment.ts';

export type Reacquired =
  | { readonly kind: 'reacquired'; readonly effect: StockEffect }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Take up an order again that closed at its deadline and whose money came late, if its activity wants that, sales have
 * not ended and it is not archived, its buyer has no other order there, and its places are free. All of it or nothing, in the caller's
 * transaction and under the order's lock; the unique key of active buyers and the conditional decrement decide, so
 * that nothing read before can be out of date. The decrement is last: an activity's row is the one that all share.
 *
 * After the end of the sale window the money goes back: a place taken then would be a sale after the last one.
 * @param locked activities that others keep locked: their row is not waited for.
 * @throws ActivityLockedError when it was waited for in vain; StoreUnavailableError when it is one of `locked`.
 */
export async function reacquirePlace(
  session: Session,
  order: Order,
  event: PaymentEvent,
  { paymentRow, locked }: { readonly paymentRow: number; readonly locked: readonly number[] },
): Promise<Reacquired> {
  const [activity] = await session.rows<{ late_payment_policy: string; is_over: number }>(
    `SELECT late_payment_policy, COALESCE(sale_ends_at <= NOW(3), 0) OR archived_at IS NOT NULL AS is_over FROM activity WHERE id = ?`,
    [order.activityId],
  );
  if (activity?.late_payment_policy !== 'reacquire') return refused('the order had closed');
  if (activity.is_over === 1) return refused('the order had closed, and sales have ended');
  if (locked.includes(order.activityId)) {
    throw new StoreUnavailableError(`activity ${order.activityId} stays locked by others`);
  }
  await session.run('SAVEPOINT before_reacquire');
  const result = await takeUp(session, order, event, paymentRow);
  if (result.kind === 'refused') await session.run('ROLLBACK TO SAVEPOINT before_reacquire');
  return result;
}

async function takeUp(
  session: Session,
  order: Order,
  event: PaymentEvent,
  paymentRow: number,
): Promise<Reacquired> {
  const id = idToBytes(order.id);
  const batchId = idToBytes(newId());
  try {
    const { affectedRows } = await session.run(
      `UPDATE orders SET status = 'PAID', version = version + 1, paid_at = NOW(3), closed_at = NULL,
         settle_until = NULL WHERE id = ? AND status = 'TIMEOUT_CLOSED'`,
      [id],
    );
    if (affectedRows !== 1) throw new InvariantError(`locked order ${order.id} was no longer closed`);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return refused('the order had closed, and its buyer has another one here');
  }
  await session.run(
    `INSERT INTO order_transition (order_id, version, activity_id, from_status, to_status, cause, at, credit,
       debit, effect_batch_id, actor)
     SELECT id, version, activity_id, 'TIMEOUT_CLOSED', status, 'payment', paid_at, 0, quantity, ?, ?
     FROM orders WHERE id = ?`,
    [batchId, Buffer.from(event.paymentId), id],
  );
  const { userId, quantity } = order;
  const effect = await insertReacquireEffect(session, batchId, order.activityId, [
    { orderId: order.id, userId, quantity },
  ]);
  await insertShopEvents(session, 'paid', [order.id]);
  await keepLatePayment(session, paymentRow);
  const { activityId } = order;
  const taken = session.run(
    `UPDATE activity SET available = available - ? WHERE id = ? AND available >= ? AND archived_at IS NULL`,
    [order.quantity, activityId, order.quantity],
  );
  const { affectedRows } = await orLocked(session, [activityId], taken);
  return affectedRows === 1
    ? { kind: 'reacquired', effect }
    : refused('the order had closed, and no place was free');
}

function refused(reason: string): Reacquired {
  return { kind: 'refused', reason };
}

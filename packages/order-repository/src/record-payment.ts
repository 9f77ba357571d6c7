import { idToBytes, newId } from './binary-id.ts';
import { captureAttempt, settleOpenAttempts } from './capture-attempt.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import { insertEffects } from './insert-effects.ts';
import { judgePayment } from './judge-payment.ts';
import type { Order } from './order.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import type { PaymentEvent, PaymentResult } from './payment.ts';
import { reacquirePlace } from './reacquire-place.ts';
import type { Session } from './session.ts';
import type { StockEffect } from './stock-effect.ts';
import { inTransaction, type Witness } from './transaction.ts';
import { decideWaiting, explainRefund, insertPayment } from './write-payment.ts';

/**
 * Record a verified payment event, and decide the order by it, in one transaction under the order's lock: so
 * of a payment and a close exactly one wins, and no captured money is without PAID, a refund that is owed,
 * or quarantine. `judgePayment` says what an event means; a capture after the close follows the activity's policy.
 *
 * Idempotent by event id, and by payment id and type: the same again is a `duplicate` and changes no money. A capture
 * whose order is not visible is `kept`, and decided by the next call with it once the order is: a repeat of the
 * provider, or the settler.
 */
export function recordPayment(database: Database, event: PaymentEvent): Promise<PaymentResult> {
  return inTransaction<PaymentResult>(
    database,
    (session) => recordOnce(session, event),
    (result) => witnessOf(event, result),
  );
}

function witnessOf(event: PaymentEvent, { outcome }: PaymentResult): Witness | null {
  if (outcome === 'duplicate') return null;
  // A kept payment has had its row before it is decided.
  const decided = outcome === 'kept' ? '' : "AND state <> 'WAITING'";
  return {
    sql: `SELECT 1 FROM payment WHERE payment_id = ? AND type = ? ${decided}`,
    values: [Buffer.from(event.paymentId), event.type],
  };
}

async function recordOnce(session: Session, event: PaymentEvent): Promise<PaymentResult> {
  const id = idToBytes(event.orderId);
  const row = await readRow(session, id, 'FOR UPDATE');
  if (row === undefined) return keepForLater(session, event);
  const order = toOrder(row);
  const verdict = judgePayment(order, event);
  const paymentRow =
    (await insertPayment(session, event, verdict)) ?? (await decideWaiting(session, event, verdict));
  await captureAttempt(session, event);
  if (paymentRow === undefined) return { outcome: 'duplicate', order };
  switch (verdict.kind) {
    case 'ignore':
      return { outcome: 'ignored', order };
    case 'quarantine':
      return { outcome: 'quarantined', order };
    case 'refund':
      await settleOpenAttempts(session, order.id);
      return { outcome: 'refund_pending', order };
    case 'pay': {
      const effect = await markPaid(session, order, event);
      await settleOpenAttempts(session, order.id);
      return { outcome: 'paid', order: await reread(session, id), effect };
    }
    case 'late':
      await settleOpenAttempts(session, order.id);
      return takeLate(session, order, event, paymentRow);
  }
}

async function takeLate(
  session: Session,
  order: Order,
  event: PaymentEvent,
  paymentRow: number,
): Promise<PaymentResult> {
  const taken = await reacquirePlace(session, order, event, paymentRow);
  if (taken.kind === 'refused') {
    await explainRefund(session, paymentRow, taken.reason);
    return { outcome: 'refund_pending', order };
  }
  return {
    outcome: 'reacquired',
    order: await reread(session, idToBytes(order.id)),
    effect: taken.effect,
  };
}

/** No row to lock: if the order commits meanwhile, the payment waits for the settler's next look. */
async function keepForLater(session: Session, event: PaymentEvent): Promise<PaymentResult> {
  if (event.type === 'payment.failed') {
    const inserted = await insertPayment(session, event, { state: 'FAILED', reason: null });
    return { outcome: inserted === undefined ? 'duplicate' : 'ignored' };
  }
  const waiting = { state: 'WAITING', reason: 'no such order yet' } as const;
  if ((await insertPayment(session, event, waiting)) !== undefined) return { outcome: 'kept' };
  const still = await session.rows(
    "SELECT 1 FROM payment WHERE payment_id = ? AND type = ? AND state = 'WAITING'",
    [Buffer.from(event.paymentId), event.type],
  );
  return { outcome: still.length > 0 ? 'kept' : 'duplicate' };
}

async function readRow(session: Session, id: Buffer, lock: 'FOR UPDATE' | ''): Promise<OrderRow | undefined> {
  const [row] = await session.rows<OrderRow>(`SELECT ${orderColumns} FROM orders WHERE id = ? ${lock}`, [id]);
  return row;
}

async function reread(session: Session, id: Buffer): Promise<Order> {
  const row = await readRow(session, id, '');
  if (row === undefined) throw new InvariantError('a locked order is not there');
  return toOrder(row);
}

async function markPaid(session: Session, order: Order, event: PaymentEvent): Promise<StockEffect> {
  const id = idToBytes(order.id);
  const batchId = idToBytes(newId());
  const { affectedRows } = await session.run(
    `UPDATE orders SET status = 'PAID', version = version + 1, paid_at = NOW(3), settle_until = NULL
     WHERE id = ? AND status = 'PENDING'`,
    [id],
  );
  if (affectedRows !== 1) throw new InvariantError(`locked order ${order.id} was no longer pending`);
  await session.run(
    `INSERT INTO order_transition
       (order_id, version, activity_id, from_status, to_status, cause, at, credit, effect_batch_id, actor)
     SELECT id, version, activity_id, 'PENDING', status, 'payment', paid_at, 0, ?, ? FROM orders WHERE id = ?`,
    [batchId, Buffer.from(event.paymentId), id],
  );
  const [effect] = await insertEffects(session, {
    batchId,
    kind: 'confirm',
    shopEvent: 'paid',
    idsByActivity: new Map([[order.activityId, [order.id]]]),
  });
  if (effect === undefined) throw new InvariantError('a paid order confirmed nothing');
  return effect;
}

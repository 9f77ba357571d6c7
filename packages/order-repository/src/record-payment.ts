import type { PaymentOutcome } from '@lapse/contracts';
import { idToBytes, newId } from './binary-id.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import { insertEffects } from './insert-effects.ts';
import type { Order } from './order.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import type { PaymentEvent, PaymentResult, PaymentState } from './payment.ts';
import type { Session } from './session.ts';
import type { StockEffect } from './stock-effect.ts';
import { inTransaction } from './transaction.ts';

/** What an event means for the order as it is under its lock. */
interface Verdict {
  readonly outcome: PaymentOutcome;
  readonly state: PaymentState;
  readonly reason: string | null;
}

/**
 * Record a verified payment event, and decide the order by it, in one transaction under the order's lock: so
 * of a payment and a close exactly one wins, and no captured money is without PAID, a refund that is owed,
 * or quarantine.
 *
 * Idempotent by event id, and by payment id and type: the same again is a `duplicate` and changes nothing.
 * A failed attempt is recorded and never changes an order. An order that is past its deadline but not closed
 * yet may still be paid: the stock is still its own.
 */
export function recordPayment(database: Database, event: PaymentEvent): Promise<PaymentResult> {
  return inTransaction<PaymentResult>(
    database,
    (session) => recordOnce(session, event),
    ({ outcome }) =>
      outcome === 'order_not_found' || outcome === 'duplicate'
        ? null
        : { sql: 'SELECT 1 FROM payment WHERE event_id = ?', values: [Buffer.from(event.eventId)] },
  );
}

async function recordOnce(session: Session, event: PaymentEvent): Promise<PaymentResult> {
  const id = idToBytes(event.orderId);
  const row = await readRow(session, id, 'FOR UPDATE');
  if (row === undefined) return { outcome: 'order_not_found' };
  const order = toOrder(row);
  const verdict = judge(order, event);
  if (!(await insertPayment(session, event, verdict))) return { outcome: 'duplicate', order };
  if (verdict.outcome !== 'paid') return { outcome: verdict.outcome, order };

  const effect = await markPaid(session, order, event);
  const paid = await readRow(session, id, '');
  if (paid === undefined) throw new InvariantError(`locked order ${order.id} is not there`);
  return { outcome: 'paid', order: toOrder(paid), effect };
}

async function readRow(session: Session, id: Buffer, lock: 'FOR UPDATE' | ''): Promise<OrderRow | undefined> {
  const [row] = await session.rows<OrderRow>(`SELECT ${orderColumns} FROM orders WHERE id = ? ${lock}`, [id]);
  return row;
}

function judge(order: Order, event: PaymentEvent): Verdict {
  if (event.type === 'payment.failed') {
    return { outcome: 'ignored', state: 'FAILED', reason: null };
  }
  if (event.amountMinor !== order.amountMinor || event.currency !== order.currency) {
    const reason = `the order is for ${order.amountMinor} ${order.currency}`;
    return { outcome: 'quarantined', state: 'QUARANTINED', reason };
  }
  if (order.status === 'PENDING') return { outcome: 'paid', state: 'CAPTURED', reason: null };
  return { outcome: 'refund_pending', state: 'REFUND_PENDING', reason: `the order was ${order.status}` };
}

/** @returns false when this event, or this payment under another event, was recorded before. */
async function insertPayment(session: Session, event: PaymentEvent, verdict: Verdict): Promise<boolean> {
  const { affectedRows } = await session.run(
    `INSERT INTO payment (event_id, type, payment_id, order_id, amount_minor, currency, state, occurred_at,
       received_at, reason)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, NOW(3), ?) ON DUPLICATE KEY UPDATE id = payment.id`,
    [
      Buffer.from(event.eventId),
      event.type,
      Buffer.from(event.paymentId),
      idToBytes(event.orderId),
      event.amountMinor,
      event.currency,
      verdict.state,
      event.occurredAt,
      verdict.reason,
    ],
  );
  return affectedRows === 1;
}

async function markPaid(session: Session, order: Order, event: PaymentEvent): Promise<StockEffect> {
  const id = idToBytes(order.id);
  const batchId = idToBytes(newId());
  const { affectedRows } = await session.run(
    `UPDATE orders SET status = 'PAID', version = version + 1, paid_at = NOW(3)
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

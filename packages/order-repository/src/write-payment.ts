import { idToBytes, newId } from './binary-id.ts';
import type { PaymentEvent, PaymentState } from './payment.ts';
import type { Session } from './session.ts';

export interface PaymentDecision {
  readonly state: PaymentState;
  readonly reason: string | null;
}

/** What keeps the row apart from others that have the event's id, or its payment. */
interface RowKeys {
  readonly eventId: string;
  readonly conflict: Buffer;
}

/**
 * Write a payment event down as decided. One that must go back gets the id of its refund here, in the same commit as
 * the decision: however often the refund is tried, it is one refund.
 * @returns the row's id; undefined when this event, or this payment under another event, was recorded before.
 */
export async function insertPayment(
  session: Session,
  event: PaymentEvent,
  { state, reason }: PaymentDecision,
  { eventId, conflict }: RowKeys = { eventId: event.eventId, conflict: Buffer.alloc(0) },
): Promise<number | undefined> {
  const { affectedRows, insertId } = await session.run(
    `INSERT INTO payment (event_id, conflict, type, payment_id, order_id, amount_minor, currency, state, occurred_at,
       received_at, reason, provider, refund_id, refund_ref, refunded_at, next_try_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NOW(3), ?, ?, ?, ?, IF(? = 'REFUNDED', NOW(3), NULL),
       IF(? IN ('WAITING', 'REFUND_PENDING'), NOW(3), NULL))
     ON DUPLICATE KEY UPDATE id = payment.id`,
    [
      Buffer.from(eventId),
      conflict,
      event.type,
      Buffer.from(event.paymentId),
      idToBytes(event.orderId),
      event.amountMinor,
      event.currency,
      state,
      event.occurredAt,
      reason,
      event.provider ?? null,
      ...refundOf(event, state),
      ...[state, state],
    ],
  );
  return affectedRows === 1 ? insertId : undefined;
}

/**
 * Decide a payment that was kept because its order was not visible. Call it after `insertPayment` has met it, and so
 * locked it.
 * @returns whether this call decided it.
 */
export async function decideWaiting(
  session: Session,
  id: number,
  event: PaymentEvent,
  { state, reason }: PaymentDecision,
): Promise<boolean> {
  const { affectedRows } = await session.run(
    `UPDATE payment SET state = ?, reason = ?, refund_id = ?, refund_ref = ?,
       refunded_at = IF(? = 'REFUNDED', NOW(3), NULL), next_try_at = IF(? = 'REFUND_PENDING', NOW(3), NULL)
     WHERE id = ? AND state = 'WAITING'`,
    [state, reason, ...refundOf(event, state), state, state, id],
  );
  return affectedRows === 1;
}

/** A late payment that its order could take after all: nothing goes back. */
export async function keepLatePayment(session: Session, id: number): Promise<void> {
  await session.run(
    `UPDATE payment SET state = 'CAPTURED', reason = 'a place was taken again after the close', refund_id = NULL,
       next_try_at = NULL WHERE id = ?`,
    [id],
  );
}

/** Why a late payment goes back although its activity would rather keep it. */
export async function explainRefund(session: Session, id: number, reason: string): Promise<void> {
  await session.run('UPDATE payment SET reason = ? WHERE id = ?', [reason, id]);
}

/** What a refund is known by: its id, and the provider's. One that was not ours gets an id as well, so that none is without. */
function refundOf({ returned }: PaymentEvent, state: PaymentState): [Buffer | null, Buffer | null] {
  if (state === 'REFUND_PENDING') return [idToBytes(newId()), null];
  if (state !== 'REFUNDED') return [null, null];
  const { refundId = null, refundRef = null } = returned ?? {};
  return [idToBytes(refundId ?? newId()), refundRef === null ? null : Buffer.from(refundRef)];
}

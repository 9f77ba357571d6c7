import { createHash } from 'node:crypto';
import { idFromBytes } from './binary-id.ts';
import type { PaymentEvent, PaymentState } from './payment.ts';
import type { Session } from './session.ts';
import { insertPayment } from './write-payment.ts';

interface KnownRow {
  readonly id: number;
  readonly state: PaymentState;
  readonly type: PaymentEvent['type'];
  readonly payment_id: Buffer;
  readonly order_id: Buffer;
  readonly amount_minor: number;
  readonly currency: string;
}

/** `same`: the event says what this row says. `contradicts`: rows have its event id or its payment, and say otherwise. */
export type KnownPayment =
  | { readonly kind: 'same'; readonly id: number; readonly state: PaymentState }
  | { readonly kind: 'contradicts'; readonly isOfSamePayment: boolean; readonly reason: string };

/** What is known already of an event that `insertPayment` could not write. In the same transaction, right after it. */
export async function findKnownPayment(session: Session, event: PaymentEvent): Promise<KnownPayment> {
  const columns = 'id, state, type, payment_id, order_id, amount_minor, currency';
  const rows = await session.rows<KnownRow>(
    `SELECT ${columns} FROM payment WHERE event_id = ?
     UNION SELECT ${columns} FROM payment WHERE payment_id = ? AND type = ?`,
    [Buffer.from(event.eventId), Buffer.from(event.paymentId), event.type],
  );
  const same = rows.find((row) => saysTheSame(row, event));
  if (same) return { kind: 'same', id: same.id, state: same.state };
  const ofPayment = rows.find((row) => isOfPayment(row, event));
  const earlier = ofPayment ?? rows[0];
  const what = ofPayment ? 'this payment' : 'this event';
  const reason = earlier
    ? `${what} came before for order ${idFromBytes(earlier.order_id)}, ${earlier.amount_minor} ${earlier.currency}`
    : `${what} came before`;
  return { kind: 'contradicts', isOfSamePayment: ofPayment !== undefined, reason };
}

/**
 * Set a capture aside that contradicts what came before it under the id of its event or of its payment: nobody but a
 * person knows which of the two is true, and it may be money. Once for each thing that is said.
 * @returns whether this call did; false when it was set aside before.
 */
export async function quarantineContradiction(
  session: Session,
  event: PaymentEvent,
  { isOfSamePayment, reason }: Extract<KnownPayment, { kind: 'contradicts' }>,
): Promise<boolean> {
  const hash = hashOf(event);
  const row = await insertPayment(
    session,
    event,
    { state: 'QUARANTINED', reason },
    {
      eventId: `${event.eventId}~${hash.toString('hex')}`,
      // Alone, it is this payment's own row: a repeat under another event finds it and is a duplicate.
      conflict: isOfSamePayment ? hash : Buffer.alloc(0),
    },
  );
  return row !== undefined;
}

function saysTheSame(row: KnownRow, event: PaymentEvent): boolean {
  return (
    isOfPayment(row, event) &&
    idFromBytes(row.order_id) === event.orderId &&
    row.amount_minor === event.amountMinor &&
    row.currency === event.currency
  );
}

function isOfPayment(row: KnownRow, event: PaymentEvent): boolean {
  return row.type === event.type && row.payment_id.toString() === event.paymentId;
}

function hashOf({ type, paymentId, orderId, amountMinor, currency }: PaymentEvent): Buffer {
  const said = JSON.stringify([type, paymentId, orderId, amountMinor, currency]);
  return createHash('sha256').update(said).digest().subarray(0, 16);
}

import { idFromBytes, idToBytes, newId } from './binary-id.ts';
import type { Database } from './database.ts';
import { healRefundFinding } from './heal-refund-finding.ts';
import { insertShopEvents } from './insert-shop-events.ts';
import { type Changed, changeByOperator } from './operator-change.ts';
import type { OperatorRequest, OperatorResult, StoredAnswer } from './operator-result.ts';
import type { PaymentState } from './payment.ts';
import {
  type RefundPaidByHand,
  type RefundPaidByHandRefusal,
  refOfPaidByHand,
} from './refund-paid-by-hand.ts';
import type { Session } from './session.ts';

interface Row {
  readonly state: PaymentState;
  readonly order_id: Buffer;
  readonly payment_id: Buffer;
  readonly amount_minor: number;
  readonly currency: string;
  readonly claimed_us: number | null;
  readonly refund_finding_id: Buffer | null;
}

/**
 * Note that a person has paid a refund back, by the bank or at the provider itself: no settler asks for it any more,
 * whichever provider is set up then. For a refund that nobody here can pay: none is set up, another one took the money,
 * the provider refuses because it went back already, or a refund failed there.
 *
 * The payment's row lock decides between this and a settler: one that has the refund in hand is waited for by the
 * caller, so that the same money does not go back in two ways at once.
 */
export function markRefundPaid(
  database: Database,
  refund: { readonly id: number; readonly reference: string | null },
  request: OperatorRequest,
  answer: (paid: RefundPaidByHand) => StoredAnswer,
): Promise<OperatorResult<RefundPaidByHand, RefundPaidByHandRefusal>> {
  return changeByOperator(database, request, {
    change: (session) => markOnce(session, refund),
    answer,
  });
}

async function markOnce(
  session: Session,
  { id, reference }: { readonly id: number; readonly reference: string | null },
): Promise<Changed<RefundPaidByHand, RefundPaidByHandRefusal>> {
  const [row] = await session.rows<Row>(
    `SELECT state, order_id, payment_id, amount_minor, currency, refund_finding_id,
       TIMESTAMPDIFF(MICROSECOND, NOW(3), claimed_until) AS claimed_us
     FROM payment WHERE id = ? FOR UPDATE`,
    [id],
  );
  if (row === undefined) return { kind: 'refused', result: { kind: 'not_found' } };
  const { state } = row;
  if (state !== 'REFUND_PENDING' && state !== 'REFUND_FAILED')
    return { kind: 'refused', result: { kind: 'not_owed', state } };
  const forMs = Math.ceil((row.claimed_us ?? 0) / 1_000);
  if (forMs > 0) return { kind: 'refused', result: { kind: 'being_paid', forMs } };

  const refundRef = refOfPaidByHand(reference);
  // An earlier release did not name its refunds; what is paid has a name.
  await session.run(
    `UPDATE payment SET state = 'REFUNDED', refunded_at = NOW(3), refund_ref = ?, refund_id = COALESCE(refund_id, ?),
       claimed_until = NULL, next_try_at = NULL, last_error = NULL WHERE id = ?`,
    [Buffer.from(refundRef), idToBytes(newId()), id],
  );
  await healRefundFinding(session, row.refund_finding_id);
  const orderId = idFromBytes(row.order_id);
  await insertShopEvents(session, 'refunded', [orderId]);
  const paymentId = row.payment_id.toString();
  const { amount_minor: amountMinor, currency } = row;
  return {
    kind: 'done',
    result: { id, orderId, paymentId, amountMinor, currency, refundRef },
    actions: [
      {
        action: 'refund.paid_by_hand',
        targetKind: 'order',
        target: orderId,
        detail: { payment: id, paymentId, amountMinor, currency, refundRef },
      },
    ],
  };
}

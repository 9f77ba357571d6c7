import { insertFindings } from './audit-findings.ts';
import { idFromBytes, idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { errorTextMax } from './error-text.ts';
import type { PaymentState, RefundFailure, RefundFailureResult } from './payment.ts';
import { isPaidByHand } from './refund-paid-by-hand.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';

interface Row {
  readonly id: number;
  readonly order_id: Buffer;
  readonly activity_id: number | null;
  readonly refund_ref: Buffer | null;
  readonly state: PaymentState;
  readonly amount_minor: number;
  readonly currency: string;
}

/**
 * The provider says that a refund failed: the money is still owed, and a person has to order the refund anew. Written
 * down with a finding in one transaction. Told by the id of the refund, so that it may come before our own note that
 * the refund was taken, or come again after another refund was ordered, or after a person paid by hand.
 */
export function recordRefundFailure(
  database: Database,
  failure: RefundFailure,
): Promise<RefundFailureResult> {
  return inTransaction<RefundFailureResult>(
    database,
    (session) => recordOnce(session, failure),
    (result) =>
      result === 'refund_failed'
        ? {
            sql: "SELECT 1 FROM payment WHERE payment_id = ? AND refund_id = ? AND state = 'REFUND_FAILED'",
            values: [Buffer.from(failure.paymentId), idToBytes(failure.refundId)],
          }
        : null,
  );
}

async function recordOnce(session: Session, failure: RefundFailure): Promise<RefundFailureResult> {
  const { paymentId, refundId, refundRef, reason } = failure;
  const [row] = await session.rows<Row>(
    `SELECT id, order_id, refund_ref, state, amount_minor, currency,
       COALESCE(
         (SELECT activity_id FROM orders WHERE orders.id = payment.order_id),
         (SELECT activity_id FROM order_archive a WHERE a.order_id = payment.order_id)) AS activity_id
     FROM payment WHERE payment_id = ? AND type = 'payment.captured' AND refund_id = ? FOR UPDATE`,
    [Buffer.from(paymentId), idToBytes(refundId)],
  );
  if (row === undefined || isPaidByHand(row.refund_ref)) return 'ignored';
  if (row.state === 'REFUND_FAILED') return 'duplicate';
  if (row.state !== 'REFUND_PENDING' && row.state !== 'REFUNDED') return 'ignored';
  const [findingId = ''] = await insertFindings(session, [
    {
      activityId: row.activity_id,
      kind: 'refund_failed',
      action: 'waits_for_operator',
      detail: {
        orderId: idFromBytes(row.order_id),
        payment: row.id,
        ...{ paymentId, refundId, refundRef, reason },
        amountMinor: row.amount_minor,
        currency: row.currency,
      },
    },
  ]);
  await session.run(
    `UPDATE payment SET state = 'REFUND_FAILED', refund_failed_at = NOW(3), refunded_at = NULL,
       refund_ref = COALESCE(?, refund_ref), refund_finding_id = ?, next_try_at = NULL, claimed_until = NULL,
       last_error = ? WHERE id = ?`,
    [
      refundRef === null ? null : Buffer.from(refundRef),
      idToBytes(findingId),
      (reason ?? 'the provider gives no reason').slice(0, errorTextMax),
      row.id,
    ],
  );
  return 'refund_failed';
}

import { idFromBytes, idToBytes, newId } from './binary-id.ts';
import type { Database } from './database.ts';
import { healRefundFinding } from './heal-refund-finding.ts';
import type { PaymentState, RefundOutcome } from './payment.ts';
import type { Session } from './session.ts';
import type { SettleRequest, SettleResult } from './settle-result.ts';
import { type SettledRow, settleRows } from './settle-rows.ts';

interface Row {
  readonly id: number;
  readonly order_id: Buffer;
  readonly payment_id: Buffer;
  readonly state: PaymentState;
  readonly amount_minor: number;
  readonly currency: string;
  readonly refund_finding_id: Buffer | null;
}

/** What a person has to order: the settler pays all other refunds by itself. */
const refundable: readonly PaymentState[] = ['QUARANTINED', 'REFUND_FAILED', 'DISMISSED'];
/** The payment's money is accounted for by a row in any other state, or will be. */
const withoutMoney: readonly PaymentState[] = ['QUARANTINED', 'DISMISSED', 'FAILED'];

/**
 * Order that quarantined money goes back, or that a refund which failed at the provider is made anew; as `settleRows`
 * does it. The settler pays it: the amount and currency that were captured, once, for the payment is refundable no
 * more as soon as its refund is ordered. A refund made anew has an id of its own, for under the old one the
 * provider would only repeat that it failed.
 *
 * A payment's money goes back once: where another row of the same payment keeps it or gives it back, this one
 * contradicts it and is refused. All rows of the payment are locked for that, so that of two which contradict each
 * other one is refunded, whoever asks. A dry run judges each row alone.
 */
export function refundPayments(
  database: Database,
  request: SettleRequest<number, RefundOutcome>,
): Promise<SettleResult<RefundOutcome>> {
  return settleRows<number, RefundOutcome>(database, request, refundOne);
}

async function refundOne(session: Session, id: number, dryRun: boolean): Promise<SettledRow<RefundOutcome>> {
  const rows = await session.rows<Row>(
    `SELECT id, order_id, payment_id, state, amount_minor, currency, refund_finding_id FROM payment
     WHERE payment_id = (SELECT payment_id FROM payment WHERE id = ?) ${dryRun ? '' : 'FOR UPDATE'}`,
    [id],
  );
  const row = rows.find((each) => each.id === id);
  if (row === undefined) return { outcome: { id, changed: false, kind: 'not_found' } };
  const { state, amount_minor: amountMinor, currency } = row;
  if (!refundable.includes(state)) return { outcome: { id, changed: false, kind: 'not_refundable', state } };
  const orderId = idFromBytes(row.order_id);
  const paymentId = row.payment_id.toString();
  const other = rows.find((each) => each.id !== id && !withoutMoney.includes(each.state));
  if (other) return { outcome: contradiction(id, paymentId, other) };
  const outcome = {
    id,
    changed: !dryRun,
    kind: 'refund_due',
    orderId,
    paymentId,
    amountMinor,
    currency,
  } as const;
  if (dryRun) return { outcome };
  await session.run(
    `UPDATE payment SET state = 'REFUND_PENDING', refund_id = ?, refund_ref = NULL, refund_tries = 0,
       next_try_at = NOW(3), claimed_until = NULL, last_error = NULL WHERE id = ?`,
    [idToBytes(newId()), id],
  );
  await healRefundFinding(session, row.refund_finding_id);
  return {
    outcome,
    action: {
      action: 'payment.refund',
      targetKind: 'order',
      target: orderId,
      detail: { payment: id, paymentId, was: state, amountMinor, currency },
    },
  };
}

function contradiction(id: number, paymentId: string, other: Row): RefundOutcome {
  return {
    ...{ id, changed: false, kind: 'contradicts', paymentId },
    other: { id: other.id, orderId: idFromBytes(other.order_id), state: other.state },
  };
}

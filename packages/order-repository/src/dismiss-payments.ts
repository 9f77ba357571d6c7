import { idFromBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { DismissOutcome, PaymentState } from './payment.ts';
import type { Session } from './session.ts';
import type { SettleRequest, SettleResult } from './settle-result.ts';
import { type SettledRow, settleRows } from './settle-rows.ts';

interface Row {
  readonly order_id: Buffer;
  readonly payment_id: Buffer;
  readonly state: PaymentState;
  readonly amount_minor: number;
  readonly currency: string;
}

/**
 * Be done with quarantined payments that are no money at all: the provider told them wrongly. Nothing is kept and
 * nothing goes back; as `settleRows` does it. One that was money after all may still be refunded.
 */
export function dismissPayments(
  database: Database,
  request: SettleRequest<number, DismissOutcome>,
): Promise<SettleResult<DismissOutcome>> {
  return settleRows<number, DismissOutcome>(database, request, dismissOne);
}

async function dismissOne(
  session: Session,
  id: number,
  dryRun: boolean,
): Promise<SettledRow<DismissOutcome>> {
  const [row] = await session.rows<Row>(
    `SELECT order_id, payment_id, state, amount_minor, currency FROM payment WHERE id = ?
     ${dryRun ? '' : 'FOR UPDATE'}`,
    [id],
  );
  if (row === undefined) return { outcome: { id, changed: false, kind: 'not_found' } };
  const { state, amount_minor: amountMinor, currency } = row;
  if (state !== 'QUARANTINED') return { outcome: { id, changed: false, kind: 'not_quarantined', state } };
  const orderId = idFromBytes(row.order_id);
  const paymentId = row.payment_id.toString();
  const outcome = { id, changed: !dryRun, kind: 'dismissed', orderId, paymentId } as const;
  if (dryRun) return { outcome };
  await session.run("UPDATE payment SET state = 'DISMISSED' WHERE id = ?", [id]);
  return {
    outcome,
    action: {
      action: 'payment.dismiss',
      targetKind: 'order',
      target: orderId,
      detail: { payment: id, paymentId, amountMinor, currency },
    },
  };
}

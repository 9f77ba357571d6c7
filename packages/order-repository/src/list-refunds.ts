import { idFromBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { RefundFilter, RefundRecord } from './payment.ts';
import { withRetriedSession } from './transaction.ts';

interface RefundRow {
  readonly id: number;
  readonly state: RefundRecord['state'];
  readonly refund_id: Buffer | null;
  readonly refund_ref: Buffer | null;
  readonly order_id: Buffer;
  readonly payment_id: Buffer;
  readonly provider: string | null;
  readonly amount_minor: number;
  readonly currency: string;
  readonly reason: string | null;
  readonly received_at: Date;
  readonly refunded_at: Date | null;
  readonly refund_tries: number;
  readonly next_try_at: Date | null;
  readonly last_error: string | null;
}

/** Most records of one page. */
const pageMax = 1_000;

/** Payments that go back, went back, or wait for a person to say so, oldest first, a page at a time. */
export function listRefunds(
  database: Database,
  { state, afterId, limit }: RefundFilter,
): Promise<RefundRecord[]> {
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<RefundRow>(
      `SELECT id, state, refund_id, refund_ref, order_id, payment_id, provider, amount_minor, currency, reason,
         received_at, refunded_at, refund_tries, next_try_at, last_error
       FROM payment WHERE state = ? AND id > ? ORDER BY id LIMIT ?`,
      [state, afterId, Math.min(limit, pageMax)],
    );
    return rows.map(toRecord);
  });
}

function toRecord(row: RefundRow): RefundRecord {
  return {
    id: row.id,
    state: row.state,
    refundId: row.refund_id && idFromBytes(row.refund_id),
    refundRef: row.refund_ref?.toString() ?? null,
    orderId: idFromBytes(row.order_id),
    paymentId: row.payment_id.toString(),
    provider: row.provider,
    amountMinor: row.amount_minor,
    currency: row.currency,
    reason: row.reason,
    receivedAt: row.received_at,
    refundedAt: row.refunded_at,
    tries: row.refund_tries,
    nextTryAt: row.next_try_at,
    lastError: row.last_error,
  };
}

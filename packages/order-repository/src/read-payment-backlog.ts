import { attemptIsOpen } from './attempt-row.ts';
import type { Database } from './database.ts';
import type { PaymentBacklog } from './payment.ts';
import { withRetriedSession } from './transaction.ts';

/** Counts by index alone; each is of what is not done, which is little while the provider answers. */
export function readPaymentBacklog(database: Database): Promise<PaymentBacklog> {
  return withRetriedSession(database, async (session) => {
    const payments = await session.rows<{ state: string; total: number; oldest_us: number | null }>(
      `SELECT state, COUNT(*) AS total, TIMESTAMPDIFF(MICROSECOND, MIN(received_at), NOW(3)) AS oldest_us
       FROM payment WHERE state IN ('REFUND_PENDING', 'WAITING', 'QUARANTINED', 'REFUND_FAILED') GROUP BY state`,
    );
    const [attempts] = await session.rows<{ total: number; oldest_us: number | null }>(
      `SELECT COUNT(*) AS total, TIMESTAMPDIFF(MICROSECOND, MIN(settle_at), NOW(3)) AS oldest_us
       FROM payment_attempt WHERE ${attemptIsOpen} AND settle_at <= NOW(3)`,
    );
    const of = (state: string) => payments.find((row) => row.state === state);
    return {
      refundsWaiting: of('REFUND_PENDING')?.total ?? 0,
      oldestRefundMs: toMs(of('REFUND_PENDING')?.oldest_us),
      attemptsDue: attempts?.total ?? 0,
      oldestAttemptMs: toMs(attempts?.oldest_us),
      paymentsWaiting: of('WAITING')?.total ?? 0,
      quarantined: of('QUARANTINED')?.total ?? 0,
      refundsFailed: of('REFUND_FAILED')?.total ?? 0,
    };
  });
}

function toMs(us: number | null | undefined): number {
  return Math.max(0, Math.floor((us ?? 0) / 1_000));
}

import { idFromBytes } from './binary-id.ts';
import { claimDue } from './claim-due.ts';
import type { Database } from './database.ts';
import type { PaymentEvent, WaitingPayment } from './payment.ts';
import type { Session } from './session.ts';

interface WaitingRow {
  readonly id: number;
  readonly event_id: Buffer;
  readonly type: PaymentEvent['type'];
  readonly payment_id: Buffer;
  readonly order_id: Buffer;
  readonly amount_minor: number;
  readonly currency: string;
  readonly occurred_at: Date;
  readonly provider: string | null;
  readonly waited_us: number;
}

const dueWaiting = "FROM payment FORCE INDEX (payment_due) WHERE state = 'WAITING' AND next_try_at <= NOW(3)";

/**
 * Take payments that were kept because their order was not visible, longest waiting first. Each comes again after
 * `retryMs` until `recordPayment` has decided it or it is given up: applying one twice changes nothing.
 */
export async function claimWaitingPayments(
  database: Database,
  options: { limit: number; retryMs: number },
): Promise<WaitingPayment[]> {
  const rows = await claimDue<WaitingRow>(database, {
    isDue: { sql: `SELECT 1 ${dueWaiting}`, values: [] },
    claim: (session) => claimOnce(session, options),
    witness: () => null,
  });
  return rows.map((row) => ({
    id: row.id,
    event: {
      eventId: row.event_id.toString(),
      type: row.type,
      paymentId: row.payment_id.toString(),
      orderId: idFromBytes(row.order_id),
      amountMinor: row.amount_minor,
      currency: row.currency,
      occurredAt: row.occurred_at,
      provider: row.provider,
    },
    waitedMs: Math.floor(row.waited_us / 1_000),
  }));
}

async function claimOnce(
  session: Session,
  { limit, retryMs }: { limit: number; retryMs: number },
): Promise<WaitingRow[]> {
  const rows = await session.rows<WaitingRow>(
    `SELECT id, event_id, type, payment_id, order_id, amount_minor, currency, occurred_at, provider,
       TIMESTAMPDIFF(MICROSECOND, received_at, NOW(3)) AS waited_us
     ${dueWaiting} ORDER BY next_try_at LIMIT ? FOR UPDATE SKIP LOCKED`,
    [limit],
  );
  if (rows.length === 0) return rows;
  await session.run('UPDATE payment SET next_try_at = NOW(3) + INTERVAL ? MICROSECOND WHERE id IN (?)', [
    retryMs * 1_000,
    rows.map(({ id }) => id),
  ]);
  return rows;
}

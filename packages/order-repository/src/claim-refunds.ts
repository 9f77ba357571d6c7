import { idFromBytes, idToBytes, newId } from './binary-id.ts';
import { claimDue } from './claim-due.ts';
import type { Database } from './database.ts';
import type { RefundJob } from './payment.ts';
import type { ClaimOptions } from './payment-attempt.ts';
import type { Session } from './session.ts';

interface RefundRow {
  readonly id: number;
  readonly refund_id: Buffer;
  readonly order_id: Buffer;
  readonly payment_id: Buffer;
  readonly amount_minor: number;
  readonly currency: string;
  readonly refund_tries: number;
}

const dueRefunds = `FROM payment FORCE INDEX (payment_due)
  WHERE state = 'REFUND_PENDING' AND (provider IS NULL OR provider = ?)
    AND (next_try_at IS NULL OR next_try_at <= NOW(3)) AND (claimed_until IS NULL OR claimed_until <= NOW(3))`;

/**
 * Lease refunds that are due, longest due first: those of payments that this provider took, and those of payments that
 * do not say who took them. A lease that runs out frees the refund, under the same refund id: a second try asks the
 * provider for the same refund, not for another.
 */
export async function claimRefunds(database: Database, options: ClaimOptions): Promise<RefundJob[]> {
  const rows = await claimDue<RefundRow>(database, {
    isDue: { sql: `SELECT 1 ${dueRefunds}`, values: [options.provider] },
    claim: (session) => claimOnce(session, options),
    witness: ({ id, refund_tries }) => ({
      sql: 'SELECT 1 FROM payment WHERE id = ? AND refund_tries = ?',
      values: [id, refund_tries],
    }),
  });
  return rows.map((row) => ({
    id: row.id,
    refundId: idFromBytes(row.refund_id),
    orderId: idFromBytes(row.order_id),
    paymentId: row.payment_id.toString(),
    amountMinor: row.amount_minor,
    currency: row.currency,
    tries: row.refund_tries,
  }));
}

async function claimOnce(session: Session, { provider, limit, leaseMs }: ClaimOptions): Promise<RefundRow[]> {
  const due = await session.rows<{ id: number; refund_id: Buffer | null }>(
    `SELECT id, refund_id ${dueRefunds}
     ORDER BY next_try_at LIMIT ? FOR UPDATE SKIP LOCKED`,
    [provider, limit],
  );
  if (due.length === 0) return [];
  // Written by an earlier release, which did not name its refunds.
  for (const { id } of due.filter(({ refund_id }) => refund_id === null)) {
    await session.run('UPDATE payment SET refund_id = ? WHERE id = ?', [idToBytes(newId()), id]);
  }
  const ids = due.map(({ id }) => id);
  await session.run(
    `UPDATE payment SET claimed_until = NOW(3) + INTERVAL ? MICROSECOND, refund_tries = refund_tries + 1
     WHERE id IN (?)`,
    [leaseMs * 1_000, ids],
  );
  return session.rows<RefundRow>(
    `SELECT id, refund_id, order_id, payment_id, amount_minor, currency, refund_tries
     FROM payment WHERE id IN (?) ORDER BY next_try_at, id`,
    [ids],
  );
}

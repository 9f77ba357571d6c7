import { type AttemptRow, attemptColumns, toAttempt } from './attempt-row.ts';
import type { Database } from './database.ts';
import type { ClaimOptions, PaymentAttempt } from './payment-attempt.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';

/**
 * Lease open attempts whose time to be settled has come by the database clock, earliest first. One that another
 * settler has, or that waits for its next try, is passed over; a lease that runs out frees the attempt. Locks attempts
 * alone and waits for nobody. Attempts of ended orders are claimed too: money may still arrive by them.
 */
export async function claimDueAttempts(database: Database, options: ClaimOptions): Promise<PaymentAttempt[]> {
  const rows = await inTransaction(
    database,
    (session) => claimOnce(session, options),
    ([first]) =>
      first
        ? {
            sql: 'SELECT 1 FROM payment_attempt WHERE id = ? AND tries = ?',
            values: [first.id, first.tries],
          }
        : null,
  );
  return rows.map(toAttempt);
}

async function claimOnce(
  session: Session,
  { provider, limit, leaseMs }: ClaimOptions,
): Promise<AttemptRow[]> {
  const ids: Buffer[] = [];
  // A state at a time, so that each is a range of the index and nothing is sorted.
  for (const state of ['OPEN', 'CREATING'] as const) {
    if (ids.length >= limit) break;
    const due = await session.rows<{ id: Buffer }>(
      `SELECT id FROM payment_attempt FORCE INDEX (payment_attempt_due)
       WHERE state = ? AND settle_at <= NOW(3) AND provider = ?
         AND (claimed_until IS NULL OR claimed_until <= NOW(3))
       ORDER BY settle_at LIMIT ? FOR UPDATE SKIP LOCKED`,
      [state, provider, limit - ids.length],
    );
    ids.push(...due.map(({ id }) => id));
  }
  if (ids.length === 0) return [];
  await session.run(
    `UPDATE payment_attempt SET claimed_until = NOW(3) + INTERVAL ? MICROSECOND, tries = tries + 1
     WHERE id IN (?)`,
    [leaseMs * 1_000, ids],
  );
  return session.rows<AttemptRow>(
    `SELECT ${attemptColumns} FROM payment_attempt WHERE id IN (?) ORDER BY settle_at, id`,
    [ids],
  );
}

import { type AttemptRow, attemptColumns, toAttempt } from './attempt-row.ts';
import { idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { PaymentAttempt, ProviderAttempt } from './payment-attempt.ts';
import { withRetriedSession } from './transaction.ts';

/**
 * Note what the provider calls an attempt, and how its buyer pays it. Changes only one that is CREATING: an answer
 * that comes after the attempt was settled changes nothing. Idempotent.
 * @returns the attempt as it is now; undefined when there is none.
 */
export function markAttemptOpen(
  database: Database,
  id: string,
  { providerRef, payUrl, clientSecret }: ProviderAttempt,
): Promise<PaymentAttempt | undefined> {
  return withRetriedSession(database, async (session) => {
    await session.run(
      `UPDATE payment_attempt SET state = 'OPEN', provider_ref = ?, pay_url = ?, client_secret = ?
       WHERE id = ? AND state = 'CREATING'`,
      [Buffer.from(providerRef), payUrl, clientSecret, idToBytes(id)],
    );
    const [row] = await session.rows<AttemptRow>(
      `SELECT ${attemptColumns} FROM payment_attempt WHERE id = ?`,
      [idToBytes(id)],
    );
    return row && toAttempt(row);
  });
}

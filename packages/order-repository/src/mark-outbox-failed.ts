import { sortedIdBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { errorTextMax } from './error-text.ts';
import { withRetriedSession } from './transaction.ts';

/** Soon enough that orders sold while the broker was away are still reminded on time. */
const retryAfterSMax = 5;

/**
 * Note why rows could not be sent, and when they may be claimed again: after 1 to 5 seconds, by the number
 * of tries, so that a row which never goes out does not keep the others waiting.
 */
export async function markOutboxFailed(
  database: Database,
  ids: readonly string[],
  error: string,
): Promise<void> {
  if (ids.length === 0) return;
  await withRetriedSession(database, (session) =>
    session.run(
      `UPDATE message_outbox SET last_error = ?,
         claimed_until = NOW(3) + INTERVAL LEAST(GREATEST(attempts, 1), ?) SECOND
       WHERE id IN (?) AND sent_at IS NULL`,
      [error.slice(0, errorTextMax), retryAfterSMax, sortedIdBytes(ids)],
    ),
  );
}

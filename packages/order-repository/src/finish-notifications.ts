import type { Database } from './database.ts';
import { errorTextMax } from './error-text.ts';
import type { NoticeClaim, NoticeOutcome } from './notification.ts';
import { withRetriedSession } from './transaction.ts';

/**
 * Note how a claimed notice went. A claim that is not the notice's latest changes nothing, so a caller that comes
 * back after its lease neither undoes what another one finished nor takes a notice out of its hands.
 */
export async function finishNotification(
  database: Database,
  { id, attempts }: NoticeClaim,
  outcome: NoticeOutcome,
): Promise<void> {
  const error = 'error' in outcome ? outcome.error.slice(0, errorTextMax) : null;
  const retryInMs = outcome.state === 'WAITING' ? outcome.retryInMs : 0;
  await withRetriedSession(database, (session) =>
    session.run(
      `UPDATE notification SET state = ?, last_error = ?, claimed_until = NULL,
         sent_at = IF(? = 'SENT', NOW(3), NULL), next_attempt_at = NOW(3) + INTERVAL ? MICROSECOND
       WHERE id = ? AND attempts = ? AND state = 'WAITING'`,
      [outcome.state, error, outcome.state, retryInMs * 1_000, id, attempts],
    ),
  );
}

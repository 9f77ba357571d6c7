import type { Database } from './database.ts';
import type { FinishedNotice } from './notification.ts';
import { putBack } from './put-back.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';

/**
 * Note how claimed notices went, in one transaction. A claim that is not the notice's latest changes nothing, so a
 * caller that comes back after its lease neither undoes what another one finished nor takes a notice out of its
 * hands. Idempotent, so that a COMMIT in doubt whose first claim is another's by now is simply made again.
 */
export async function finishNotifications(
  database: Database,
  finished: readonly FinishedNotice[],
): Promise<void> {
  const [first] = finished;
  if (!first) return;
  await inTransaction(
    database,
    async (session) => {
      await markOver(session, 'SENT', finished);
      await markOver(session, 'SKIPPED', finished);
      for (const { claim, outcome } of finished) {
        if ('error' in outcome) await putBack(session, 'notification', claim, outcome);
      }
    },
    () => ({
      sql: 'SELECT 1 FROM notification WHERE id = ? AND attempts = ? AND claimed_until IS NULL',
      values: [first.claim.id, first.claim.attempts],
    }),
  );
}

async function markOver(
  session: Session,
  state: 'SENT' | 'SKIPPED',
  finished: readonly FinishedNotice[],
): Promise<void> {
  const claims = finished.filter(({ outcome }) => outcome.state === state).map(({ claim }) => claim);
  if (claims.length === 0) return;
  await session.run(
    `UPDATE notification FORCE INDEX (PRIMARY) SET state = ?, last_error = NULL, claimed_until = NULL, sent_at = IF(? = 'SENT', NOW(3), NULL)
     WHERE id IN (?) AND (id, attempts) IN (?) AND state = 'WAITING'`,
    [state, state, claims.map(({ id }) => id), claims.map(({ id, attempts }) => [id, attempts])],
  );
}

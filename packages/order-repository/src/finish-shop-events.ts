import { sortedIdBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { putBack } from './put-back.ts';
import { releaseNextEvents } from './release-next-events.ts';
import type { Session } from './session.ts';
import type { FinishedShopEvent, ShopEventClaim } from './shop-event.ts';
import { inTransaction } from './transaction.ts';

/**
 * Note how claimed events went, and free the next event of each order whose event was delivered, in one
 * transaction. A claim that is not the event's latest changes nothing: its lease ran out, and the event is
 * another caller's. Idempotent, so that a COMMIT in doubt whose first claim is another's by now is simply made again.
 */
export async function finishShopEvents(
  database: Database,
  finished: readonly FinishedShopEvent[],
): Promise<void> {
  if (finished.length === 0) return;
  const sent = finished.filter(({ outcome }) => outcome.state === 'SENT').map(({ claim }) => claim);
  await inTransaction(
    database,
    async (session) => {
      for (const { claim, outcome } of finished) {
        if (outcome.state !== 'SENT') await putBack(session, 'shop_event', claim, outcome);
      }
      await markSent(session, sent);
    },
    () =>
      sent[0]
        ? {
            sql: "SELECT 1 FROM shop_event WHERE id = ? AND attempts = ? AND state = 'SENT'",
            values: [sent[0].id, sent[0].attempts],
          }
        : null,
  );
}

async function markSent(session: Session, claims: readonly ShopEventClaim[]): Promise<void> {
  if (claims.length === 0) return;
  await session.run(
    `UPDATE shop_event FORCE INDEX (PRIMARY) SET state = 'SENT', sent_at = NOW(3), last_error = NULL, claimed_until = NULL
     WHERE id IN (?) AND (id, attempts) IN (?) AND state = 'WAITING'`,
    [claims.map(({ id }) => id), claims.map(({ id, attempts }) => [id, attempts])],
  );
  await releaseNextEvents(session, sortedIdBytes(claims.map(({ orderId }) => orderId)));
}

import { sortedIdBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { SentRow } from './order-repository.ts';
import { inTransaction } from './transaction.ts';

/** Note that rows were sent. Idempotent: the first message of a row is the one the timeline shows. */
export async function markOutboxSent(database: Database, rows: readonly SentRow[]): Promise<void> {
  if (rows.length === 0) return;
  const messages = groupByMessage(rows);
  await inTransaction(
    database,
    async (session) => {
      for (const { messageId, deliverAt, ids } of messages) {
        await session.run(
          `UPDATE message_outbox SET sent_at = NOW(3), message_id = ?, deliver_at = ?, last_error = NULL
           WHERE id IN (?) AND sent_at IS NULL`,
          [messageId, new Date(deliverAt), sortedIdBytes(ids)],
        );
      }
    },
    // Not known to be noted: at worst the sweeper sends the row once more.
    () => null,
  );
}

/** Rows that travelled in one message share an update. */
function groupByMessage(rows: readonly SentRow[]): Iterable<{
  readonly messageId: string;
  readonly deliverAt: number;
  readonly ids: string[];
}> {
  const groups = new Map<string, { messageId: string; deliverAt: number; ids: string[] }>();
  for (const { id, messageId, deliverAt } of rows) {
    const name = `${deliverAt} ${messageId}`;
    const group = groups.get(name);
    if (group) group.ids.push(id);
    else groups.set(name, { messageId, deliverAt, ids: [id] });
  }
  return groups.values();
}

import { idToBytes, unpackIds } from './binary-id.ts';
import type { Database } from './database.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';

/**
 * Turn "these orders closed" into one notice per order. Kept out of the closing transaction, which stock
 * waits for. Each effect is a transaction: its notices and its deletion together, so it is done once however
 * many callers there are.
 * @returns how many effects were done; below `limit`, none is left that is free.
 */
export async function expandClosedNotices(database: Database, limit: number): Promise<number> {
  let done = 0;
  while (done < limit) {
    // A commit that is not known: the effect is either done, or found again by the next call.
    if (!(await inTransaction(database, expandOne, () => null))) break;
    done += 1;
  }
  return done;
}

async function expandOne(session: Session): Promise<boolean> {
  const [row] = await session.rows<{ id: Buffer; order_ids: Buffer }>(
    `SELECT id, order_ids FROM effect WHERE kind = 'closed_notice'
     ORDER BY attempts, created_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
  );
  if (row === undefined) return false;
  const [clock] = await session.rows<{ at: Date }>('SELECT NOW(3) AS at');
  await session.run(
    `INSERT INTO notification (order_id, stage, next_attempt_at, created_at) VALUES ?
     ON DUPLICATE KEY UPDATE id = notification.id`,
    [unpackIds(row.order_ids).map((id) => [idToBytes(id), 'CLOSED', clock?.at, clock?.at])],
  );
  await session.run('DELETE FROM effect WHERE id = ?', [row.id]);
  return true;
}

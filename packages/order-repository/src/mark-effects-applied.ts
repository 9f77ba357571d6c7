import { sortedIdBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { withRetriedSession } from './transaction.ts';

/** Forget effects that Redis has taken. Idempotent. Call it only after Redis answered `done`. */
export async function markEffectsApplied(database: Database, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const sorted = sortedIdBytes(ids);
  await withRetriedSession(database, (session) =>
    session.run('DELETE FROM effect WHERE id IN (?)', [sorted]),
  );
}

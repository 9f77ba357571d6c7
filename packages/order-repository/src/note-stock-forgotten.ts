import type { Database } from './database.ts';
import { withRetriedSession } from './transaction.ts';

/** Note that Redis has forgotten an archived activity. Idempotent. */
export async function noteStockForgotten(database: Database, activityId: number): Promise<void> {
  await withRetriedSession(database, (session) =>
    session.run('UPDATE activity SET stock_run_id = NULL WHERE id = ? AND archived_at IS NOT NULL', [
      activityId,
    ]),
  );
}

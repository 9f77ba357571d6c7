import type { Database } from './database.ts';
import type { ArchivedStock } from './retention.ts';
import { withRetriedSession } from './transaction.ts';

/**
 * Note that Redis has forgotten an archived activity, as it was read before that. Does nothing where it was loaded again
 * meanwhile, by a sweeper of an older release: then Redis is to forget it once more. Idempotent.
 */
export async function noteStockForgotten(
  database: Database,
  { activityId, generation, runId }: ArchivedStock,
): Promise<void> {
  await withRetriedSession(database, (session) =>
    session.run(
      `UPDATE activity SET stock_run_id = NULL
       WHERE id = ? AND archived_at IS NOT NULL AND stock_run_id = ? AND generation = ?`,
      [activityId, runId, generation],
    ),
  );
}

import type { Database } from './database.ts';
import type { ArchivedStock } from './retention.ts';
import { withRetriedSession } from './transaction.ts';

/** Archived activities that Redis has not forgotten yet, by number. Reads the table of activities alone. */
export function readArchivedStocks(
  database: Database,
  { limit }: { readonly limit: number },
): Promise<ArchivedStock[]> {
  return withRetriedSession(database, (session) =>
    session.rows<ArchivedStock>(
      `SELECT id AS activityId, generation, stock_run_id AS runId FROM activity
       WHERE archived_at IS NOT NULL AND stock_run_id IS NOT NULL ORDER BY id LIMIT ?`,
      [limit],
    ),
  );
}

import type { Database } from './database.ts';
import { withRetriedSession } from './transaction.ts';

/**
 * Archived activities that Redis has forgotten, and that have paid orders which are not in the archive: a page of their
 * numbers, behind `afterId`. Reads the table of activities alone.
 */
export async function readArchivedSales(
  database: Database,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<number[]> {
  const rows = await withRetriedSession(database, (session) =>
    session.rows<{ id: number }>(
      `SELECT id FROM activity WHERE archived_at IS NOT NULL AND stock_run_id IS NULL
         AND capacity > available + sold_archived_units AND id > ? ORDER BY id LIMIT ?`,
      [afterId, limit],
    ),
  );
  return rows.map(({ id }) => id);
}

import type { Database } from './database.ts';
import type { ArchivedWork } from './retention.ts';
import { withRetriedSession } from './transaction.ts';

/**
 * What archived activities still have before them, by number: those that Redis has not forgotten yet, and those that
 * have paid orders. Of the latter a page, which goes on behind `afterId`. Reads the table of activities alone.
 */
export function readArchivedWork(
  database: Database,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<ArchivedWork> {
  return withRetriedSession(database, async (session) => {
    const inRedis = await session.rows<{ id: number }>(
      `SELECT id FROM activity WHERE archived_at IS NOT NULL AND stock_run_id IS NOT NULL ORDER BY id LIMIT ?`,
      [limit],
    );
    const withOrders = await session.rows<{ id: number }>(
      `SELECT id FROM activity WHERE archived_at IS NOT NULL AND stock_run_id IS NULL
         AND capacity > available + sold_archived_units AND id > ? ORDER BY id LIMIT ?`,
      [afterId, limit],
    );
    return { inRedis: inRedis.map(({ id }) => id), withOrders: withOrders.map(({ id }) => id) };
  });
}

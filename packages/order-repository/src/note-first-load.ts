import type { Database } from './database.ts';
import { withRetriedSession } from './transaction.ts';

/**
 * Note which Redis server has the stock of an activity that was just made and loaded; until then its orders are
 * refused. Does nothing once it is noted, or rebuilt since. Idempotent.
 */
export async function noteFirstLoad(
  database: Database,
  activityId: number,
  { generation, runId }: { readonly generation: number; readonly runId: string },
): Promise<void> {
  await withRetriedSession(database, (session) =>
    session.run(
      'UPDATE activity SET stock_run_id = ? WHERE id = ? AND generation = ? AND stock_run_id IS NULL',
      [runId, activityId, generation],
    ),
  );
}

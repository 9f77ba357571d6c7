import type { Activity } from './activity.ts';
import { type ActivityRow, activityColumns, toActivity } from './activity-row.ts';
import type { Database } from './database.ts';
import { withRetriedSession } from './transaction.ts';

/** Activities by number, a page at a time: `afterId` is the last number of the page before, 0 at first. */
export function listActivities(
  database: Database,
  { afterId, limit }: { afterId: number; limit: number },
): Promise<Activity[]> {
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<ActivityRow>(
      `SELECT ${activityColumns} FROM activity WHERE id > ? ORDER BY id LIMIT ?`,
      [afterId, limit],
    );
    return rows.map(toActivity);
  });
}

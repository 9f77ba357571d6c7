import type { Activity } from './activity.ts';
import { type ActivityRow, activityColumns, toActivity } from './activity-row.ts';
import type { Database } from './database.ts';
import { withRetriedSession } from './transaction.ts';

export function readActivity(database: Database, id: number): Promise<Activity | undefined> {
  return withRetriedSession(database, async (session) => {
    const [row] = await session.rows<ActivityRow>(`SELECT ${activityColumns} FROM activity WHERE id = ?`, [
      id,
    ]);
    return row && toActivity(row);
  });
}

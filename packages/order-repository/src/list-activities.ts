import type { Activity, ActivityPage } from './activity.ts';
import { type ActivityRow, activityColumns, toActivity } from './activity-row.ts';
import type { Database } from './database.ts';
import { withRetriedSession } from './transaction.ts';

/** Retention has taken it out of every list: it is read by its number alone. */
const isThere = 'archived_at IS NULL';
/** Sales ended, and every order has had its deadline, its grace, and an hour; but one that an operator moved. */
const isLive = `(sale_ends_at IS NULL OR
  sale_ends_at > NOW(3) - INTERVAL (pay_within_ms + payment_grace_ms) * 1000 MICROSECOND - INTERVAL 1 HOUR)`;
const filters = { live: `AND ${isLive}`, over: `AND NOT ${isLive}` };

/** Activities by number, a page at a time; those that are archived are left out. */
export function listActivities(
  database: Database,
  { afterId, limit, only }: ActivityPage,
): Promise<Activity[]> {
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<ActivityRow>(
      `SELECT ${activityColumns} FROM activity
       WHERE id > ? AND ${isThere} ${only ? filters[only] : ''} ORDER BY id LIMIT ?`,
      [afterId, limit],
    );
    return rows.map(toActivity);
  });
}

/** The newest of those that still sell or may still owe something, the newest first. */
export function listLiveActivities(database: Database, limit: number): Promise<Activity[]> {
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<ActivityRow>(
      `SELECT ${activityColumns} FROM activity
       WHERE ${isThere} AND ${isLive} ORDER BY id DESC LIMIT ?`,
      [limit],
    );
    return rows.map(toActivity);
  });
}

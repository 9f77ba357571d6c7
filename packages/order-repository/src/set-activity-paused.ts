import type { Activity } from './activity.ts';
import { type ActivityRow, activityColumns, toActivity } from './activity-row.ts';
import { changeUnlessDry } from './change-unless-dry.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import type { Changed } from './operator-change.ts';
import type { OperatorResult, StoredAnswer } from './operator-result.ts';
import type { PausedActivity, PauseRefusal } from './pause-result.ts';
import type { Session } from './session.ts';
import type { SettleOptions } from './settle-result.ts';

/**
 * Pause the sale of an activity, or go on with it. It is a mark that the API reads before it sells, at most a second
 * old there: orders that were placed go on, and close, and a payment that comes late may take its place again. What
 * must not sell at all, at no instant, is a matter of its capacity.
 */
export function setActivityPaused(
  database: Database,
  id: number,
  paused: boolean,
  options: SettleOptions,
  answer: (result: PausedActivity) => StoredAnswer,
): Promise<OperatorResult<PausedActivity, PauseRefusal>> {
  return changeUnlessDry(database, options, {
    change: (session, dryRun) => pauseOnce(session, id, paused, dryRun),
    answer,
  });
}

async function pauseOnce(
  session: Session,
  id: number,
  paused: boolean,
  dryRun: boolean,
): Promise<Changed<PausedActivity, PauseRefusal>> {
  const before = await read(session, id, dryRun ? '' : 'FOR UPDATE');
  if (before === undefined) return { kind: 'refused', result: { kind: 'not_found' } };
  if (before.archivedAt !== null) return { kind: 'refused', result: { kind: 'archived' } };
  const changes = (before.salePausedAt !== null) !== paused;
  if (dryRun || !changes) return { kind: 'done', result: { activity: before, changes }, actions: [] };
  await session.run(`UPDATE activity SET sale_paused_at = ${paused ? 'NOW(3)' : 'NULL'} WHERE id = ?`, [id]);
  const activity = await read(session, id, '');
  if (activity === undefined) throw new InvariantError(`activity ${id} is not there under its lock`);
  return {
    kind: 'done',
    result: { activity, changes },
    actions: [
      {
        action: paused ? 'activity.pause' : 'activity.resume',
        targetKind: 'activity',
        target: String(id),
        detail: { pausedAt: (activity.salePausedAt ?? before.salePausedAt)?.toISOString() ?? null },
      },
    ],
  };
}

async function read(session: Session, id: number, lock: '' | 'FOR UPDATE'): Promise<Activity | undefined> {
  const [row] = await session.rows<ActivityRow>(
    `SELECT ${activityColumns} FROM activity WHERE id = ? ${lock}`,
    [id],
  );
  return row && toActivity(row);
}

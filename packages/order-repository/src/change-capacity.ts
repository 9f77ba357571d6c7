import { type ActivityRow, activityColumns, toActivity } from './activity-row.ts';
import type { CapacityRefusal, ChangedCapacity } from './capacity-result.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import { insertCapacityEffect } from './insert-stock-effect.ts';
import { type Changed, changeByOperator } from './operator-change.ts';
import type { OperatorRequest, OperatorResult, StoredAnswer } from './operator-result.ts';
import type { Session } from './session.ts';

interface CapacityRow extends ActivityRow {
  readonly capacity_version: number;
}

/**
 * Change how many places an activity has, while it sells: up, or down to what is held and sold. MySQL decides in
 * one conditional update under the activity's lock, so that no create or close comes between what was read and
 * what is written. Redis follows by an effect that carries the version: each change moves its stock once, in
 * whatever order the effects arrive, and waits while the places to take away are in buyers' hands there.
 */
export function changeCapacity(
  database: Database,
  activityId: number,
  capacity: number,
  request: OperatorRequest,
  answer: (result: ChangedCapacity) => StoredAnswer,
): Promise<OperatorResult<ChangedCapacity, CapacityRefusal>> {
  return changeByOperator(database, request, {
    change: (session) => changeOnce(session, activityId, capacity),
    answer,
  });
}

async function changeOnce(
  session: Session,
  activityId: number,
  capacity: number,
): Promise<Changed<ChangedCapacity, CapacityRefusal>> {
  const before = await lockActivity(session, activityId);
  if (before === undefined) return { kind: 'refused', result: { kind: 'not_found' } };
  if (before.archived_at !== null) return { kind: 'refused', result: { kind: 'archived' } };
  const taken = before.capacity - before.available;
  if (capacity < taken) {
    return { kind: 'refused', result: { kind: 'below_sold', capacity: before.capacity, taken } };
  }
  const version = before.capacity_version + 1;
  const changes = capacity !== before.capacity;
  if (changes) {
    // `available` first: assignments run from left to right. Added before it is subtracted: the columns are unsigned.
    const { affectedRows } = await session.run(
      `UPDATE activity SET available = available + ? - capacity, capacity = ?, capacity_version = ?
       WHERE id = ? AND capacity_version = ? AND capacity - available <= ?`,
      [capacity, capacity, version, activityId, before.capacity_version, capacity],
    );
    if (affectedRows !== 1) throw new InvariantError(`activity ${activityId} changed under its lock`);
  }
  return {
    kind: 'done',
    result: {
      activity: toActivity({
        ...before,
        capacity,
        available: capacity - taken,
        capacity_version: changes ? version : before.capacity_version,
      }),
      effect: changes ? await insertCapacityEffect(session, activityId, { version, capacity }) : null,
    },
    actions: [
      {
        action: 'activity.capacity',
        targetKind: 'activity',
        target: String(activityId),
        detail: { from: before.capacity, to: capacity, taken },
      },
    ],
  };
}

async function lockActivity(session: Session, activityId: number): Promise<CapacityRow | undefined> {
  const [row] = await session.rows<CapacityRow>(
    `SELECT ${activityColumns}, capacity_version FROM activity WHERE id = ? FOR UPDATE`,
    [activityId],
  );
  return row;
}

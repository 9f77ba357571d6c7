import type { Activity } from './activity.ts';
import { type ActivityRow, activityColumns, toActivity } from './activity-row.ts';
import { idToBytes, newId } from './binary-id.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import {
  type Changed,
  changeByOperator,
  type OperatorRequest,
  type OperatorResult,
  type StoredAnswer,
} from './operator-change.ts';
import type { Session } from './session.ts';

/** Redis is owed a change of capacity, by an effect like any other. */
export interface CapacityEffect {
  readonly id: string;
  readonly kind: 'capacity';
  readonly activityId: number;
  readonly orderIds: readonly string[];
  readonly version: number;
  readonly capacity: number;
}

export interface ChangedCapacity {
  readonly activity: Activity;
  /** What Redis is owed; null when the capacity was that already. */
  readonly effect: CapacityEffect | null;
}

export type CapacityRefusal =
  | { readonly kind: 'not_found' }
  /** `taken`: places of pending and paid orders, which is the least that the capacity can be now. */
  | { readonly kind: 'below_sold'; readonly capacity: number; readonly taken: number };

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
      activity: toActivity({ ...before, capacity, available: capacity - taken }),
      effect: changes ? await insertCapacityEffect(session, activityId, version, capacity) : null,
    },
    action: {
      action: 'activity.capacity',
      targetKind: 'activity',
      target: String(activityId),
      detail: { from: before.capacity, to: capacity, taken },
    },
  };
}

async function lockActivity(session: Session, activityId: number): Promise<CapacityRow | undefined> {
  const [row] = await session.rows<CapacityRow>(
    `SELECT ${activityColumns}, capacity_version FROM activity WHERE id = ? FOR UPDATE`,
    [activityId],
  );
  return row;
}

async function insertCapacityEffect(
  session: Session,
  activityId: number,
  version: number,
  capacity: number,
): Promise<CapacityEffect> {
  const id = newId();
  await session.run(
    `INSERT INTO effect (id, batch_id, kind, activity_id, order_ids, detail) VALUES (?, ?, 'capacity', ?, '', ?)`,
    [idToBytes(id), idToBytes(newId()), activityId, `${version}:${capacity}`],
  );
  return { id, kind: 'capacity', activityId, orderIds: [], version, capacity };
}

import type { PendingChanges } from './audit.ts';
import { unpackIds } from './binary-id.ts';
import type { Database } from './database.ts';
import { withRetriedSession } from './transaction.ts';

/** Most effects read; beyond it Redis has been away for long, and `null` says that all may be in flight. */
const effectsMax = 1_000;

/** The orders of an activity that Redis has still to be told about; null: too many to say. */
export async function readPendingChanges(
  database: Database,
  activityId: number,
): Promise<PendingChanges | null> {
  const rows = await withRetriedSession(database, (session) =>
    session.rows<{ kind: string; order_ids: Buffer }>(
      `SELECT kind, order_ids FROM effect
       WHERE kind IN ('release', 'confirm', 'reacquire', 'capacity') AND activity_id = ? LIMIT ?`,
      [activityId, effectsMax + 1],
    ),
  );
  if (rows.length > effectsMax) return null;
  return {
    orderIds: new Set(rows.flatMap(({ order_ids }) => unpackIds(order_ids))),
    capacity: rows.some(({ kind }) => kind === 'capacity'),
  };
}

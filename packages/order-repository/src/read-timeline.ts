import { decodeHistory } from './archive-history.ts';
import { idFromBytes, idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { readActions, readParked } from './read-timeline-parts.ts';
import type { Session } from './session.ts';
import type { Timeline, TimelineEffect } from './timeline.ts';
import {
  readTimelineRows,
  type TimelineOrderRow,
  type TransitionRow,
  timelineOrderColumns,
} from './timeline-rows.ts';
import { toTimeline } from './to-timeline.ts';
import { withRetriedSession } from './transaction.ts';

/**
 * The life of one order, for people: its steps, the last message of each phase, notices, payments, and what is still
 * owed. Of an order that retention has taken away, what the archive has. Read piece by piece, not at one instant:
 * nothing is to be decided by it.
 */
export function readTimeline(database: Database, id: string): Promise<Timeline | undefined> {
  const orderId = idToBytes(id);
  return withRetriedSession(
    database,
    // The archive last: an order is there before it is not in its table any more.
    async (session) => (await readLive(session, id, orderId)) ?? (await readArchived(session, id, orderId)),
  );
}

async function readLive(session: Session, id: string, orderId: Buffer): Promise<Timeline | undefined> {
  const orders = await session.rows<TimelineOrderRow>(
    `SELECT ${timelineOrderColumns} FROM orders WHERE id = ?`,
    [orderId],
  );
  const [rows] = await readTimelineRows(session, orders);
  if (rows === undefined) return undefined;
  return toTimeline(rows, {
    archivedAt: null,
    pendingEffects: await readEffects(session, rows.order.activity_id, rows.transitions),
    parked: await readParked(session, orderId),
    actions: await readActions(session, id),
  });
}

async function readArchived(session: Session, id: string, orderId: Buffer): Promise<Timeline | undefined> {
  const [row] = await session.rows<{ archived_at: Date; history: Buffer }>(
    'SELECT archived_at, history FROM order_archive WHERE order_id = ?',
    [orderId],
  );
  if (row === undefined) return undefined;
  return toTimeline(decodeHistory(row.history), {
    archivedAt: row.archived_at,
    pendingEffects: [],
    parked: [],
    actions: await readActions(session, id),
  });
}

async function readEffects(
  session: Session,
  activityId: number,
  transitions: readonly TransitionRow[],
): Promise<TimelineEffect[]> {
  const batches = transitions.map((row) => row.effect_batch_id).filter((id) => id !== null);
  if (batches.length === 0) return [];
  const rows = await session.rows<{
    id: Buffer;
    kind: TimelineEffect['kind'];
    created_at: Date;
    attempts: number;
  }>(
    `SELECT id, kind, created_at, attempts FROM effect
     WHERE batch_id IN (?) AND (activity_id = ? OR activity_id IS NULL) ORDER BY created_at, id`,
    [batches, activityId],
  );
  return rows.map((row) => ({
    id: idFromBytes(row.id),
    kind: row.kind,
    createdAt: row.created_at,
    attempts: row.attempts,
  }));
}

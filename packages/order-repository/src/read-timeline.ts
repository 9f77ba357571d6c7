import { decodeHistory } from './archive-history.ts';
import { idFromBytes, idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { readActions, readParked } from './read-timeline-parts.ts';
import type { Session } from './session.ts';
import type { Timeline, TimelineEffect } from './timeline.ts';
import {
  type PaymentRow,
  readPaymentRows,
  readShopEventRows,
  readTimelineRows,
  type TimelineOrderRow,
  type TransitionRow,
  timelineOrderColumns,
} from './timeline-rows.ts';
import { toTimeline } from './to-timeline.ts';
import { withRetriedSession } from './transaction.ts';

/**
 * The life of one order, for people: its steps, the last message of each phase, notices, payments, and what is still
 * owed. Of an order that retention has taken away, what the archive has, and what came of its money since. Read piece by piece, not at one instant:
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
    saleArchivedAt: await readSaleArchivedAt(session, rows.order.activity_id),
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
  const rows = decodeHistory(row.history);
  const payments = joinPayments(rows.payments, await readPaymentRows(session, orderId));
  const shopEvents = [...rows.shopEvents, ...(await readShopEventRows(session, orderId))];
  return toTimeline(
    { ...rows, shopEvents, payments },
    {
      archivedAt: row.archived_at,
      saleArchivedAt: await readSaleArchivedAt(session, rows.order.activity_id),
      pendingEffects: [],
      parked: [],
      actions: await readActions(session, id),
    },
  );
}

/** A payment that has moved since the day of the archive is as it is today. */
function joinPayments(archived: readonly PaymentRow[], live: readonly PaymentRow[]): readonly PaymentRow[] {
  const byId = new Map([...archived, ...live].map((row) => [row.id, row]));
  return [...byId.values()].sort(
    (left, right) => left.received_at.getTime() - right.received_at.getTime() || left.id - right.id,
  );
}

async function readSaleArchivedAt(session: Session, activityId: number): Promise<Date | null> {
  const [row] = await session.rows<{ archived_at: Date | null }>(
    'SELECT archived_at FROM activity WHERE id = ?',
    [activityId],
  );
  return row?.archived_at ?? null;
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

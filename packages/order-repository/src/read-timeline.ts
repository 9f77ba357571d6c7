import type { OrderStatus, Phase, TimeoutOrder, TransitionCause } from '@lapse/contracts';
import { idFromBytes, idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import {
  readActions,
  readAttempts,
  readNotifications,
  readParked,
  readPayments,
  readShopEvents,
} from './read-timeline-parts.ts';
import type { Session } from './session.ts';
import type { Timeline, TimelineEffect, TimelineMessage, TimelineTransition } from './timeline.ts';
import { withRetriedSession } from './transaction.ts';
import { userFromBytes } from './user-bytes.ts';

interface TimelineOrderRow extends OrderRow {
  readonly reminder_outbox_id: Buffer | null;
  readonly close_outbox_id: Buffer | null;
}
interface TransitionRow {
  readonly version: number;
  readonly from_status: OrderStatus | null;
  readonly to_status: OrderStatus;
  readonly cause: TransitionCause;
  readonly at: Date;
  readonly credit: number;
  readonly debit: number;
  readonly actor: Buffer | null;
  readonly effect_batch_id: Buffer | null;
}
interface MessageRow {
  readonly id: Buffer;
  readonly phase: Phase;
  readonly order_count: number;
  readonly body: string;
  readonly due_at: Date;
  readonly created_at: Date;
  readonly sent_at: Date | null;
  readonly deliver_at: Date | null;
  readonly message_id: string | null;
  readonly attempts: number;
  readonly last_error: string | null;
}

/**
 * The life of one order, for people: its steps, the last message of each phase, notices, payments, and what is still
 * owed. Read piece by piece, not at one instant: nothing is to be decided by it.
 */
export function readTimeline(database: Database, id: string): Promise<Timeline | undefined> {
  const orderId = idToBytes(id);
  return withRetriedSession(database, async (session) => {
    const [row] = await session.rows<TimelineOrderRow>(
      `SELECT ${orderColumns}, reminder_outbox_id, close_outbox_id FROM orders WHERE id = ?`,
      [orderId],
    );
    if (row === undefined) return undefined;
    const transitions = await session.rows<TransitionRow>(
      'SELECT * FROM order_transition WHERE order_id = ? ORDER BY version',
      [orderId],
    );
    return {
      order: toOrder(row),
      transitions: transitions.map(toTransition),
      messages: await readMessages(session, row),
      notifications: await readNotifications(session, orderId),
      shopEvents: await readShopEvents(session, orderId),
      attempts: await readAttempts(session, orderId),
      payments: await readPayments(session, orderId),
      pendingEffects: await readEffects(session, row.activity_id, transitions),
      parked: await readParked(session, orderId),
      actions: await readActions(session, id),
    };
  });
}

function toTransition(row: TransitionRow): TimelineTransition {
  return {
    version: row.version,
    fromStatus: row.from_status,
    toStatus: row.to_status,
    cause: row.cause,
    at: row.at,
    credit: row.credit,
    debit: row.debit,
    actor: row.actor && userFromBytes(row.actor),
  };
}

async function readMessages(session: Session, order: TimelineOrderRow): Promise<TimelineMessage[]> {
  const ids = [order.reminder_outbox_id, order.close_outbox_id].filter((id) => id !== null);
  if (ids.length === 0) return [];
  const rows = await session.rows<MessageRow>(
    `SELECT id, phase, order_count, body, due_at, created_at, sent_at, deliver_at, message_id, attempts, last_error
     FROM message_outbox WHERE id IN (?) ORDER BY created_at, id`,
    [ids],
  );
  return rows.map((row) => ({
    outboxId: idFromBytes(row.id),
    phase: row.phase,
    orderCount: row.order_count,
    dueAt: dueTimeOf(row, idFromBytes(order.id)),
    createdAt: row.created_at,
    sentAt: row.sent_at,
    deliverAt: row.deliver_at,
    messageId: row.message_id,
    attempts: row.attempts,
    lastError: row.last_error,
  }));
}

/** Of this order. The row's own time is the first of all its orders, and the sweep of reminders moves it on. */
function dueTimeOf({ body, due_at }: MessageRow, orderId: string): Date {
  const own = (JSON.parse(body) as TimeoutOrder[]).find((order) => order.orderId === orderId);
  return own === undefined ? due_at : new Date(own.dueTime);
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

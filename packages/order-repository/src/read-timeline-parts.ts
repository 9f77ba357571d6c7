import type { PaymentWebhookBody } from '@lapse/contracts';
import { type AttemptRow, attemptColumns, toAttempt } from './attempt-row.ts';
import type { NoticeStage, NoticeState } from './notification.ts';
import type { PaymentState } from './payment.ts';
import type { PaymentAttempt } from './payment-attempt.ts';
import type { Session } from './session.ts';
import type { ShopEventState, ShopEventType } from './shop-event.ts';
import type {
  TimelineAction,
  TimelineNotification,
  TimelineParked,
  TimelinePayment,
  TimelineShopEvent,
} from './timeline.ts';
import { userFromBytes } from './user-bytes.ts';

interface NotificationRow {
  readonly id: number;
  readonly stage: NoticeStage;
  readonly state: NoticeState;
  readonly attempts: number;
  readonly created_at: Date;
  readonly next_attempt_at: Date;
  readonly sent_at: Date | null;
  readonly last_error: string | null;
}
interface ShopEventRow extends Omit<NotificationRow, 'stage' | 'state'> {
  readonly type: ShopEventType;
  readonly state: ShopEventState;
}
interface PaymentRow {
  readonly id: number;
  readonly event_id: Buffer;
  readonly type: PaymentWebhookBody['type'];
  readonly payment_id: Buffer;
  readonly amount_minor: number;
  readonly currency: string;
  readonly state: PaymentState;
  readonly occurred_at: Date;
  readonly received_at: Date;
  readonly reason: string | null;
  readonly refund_tries: number;
  readonly refund_ref: Buffer | null;
  readonly refunded_at: Date | null;
  readonly refund_failed_at: Date | null;
  readonly last_error: string | null;
}

export async function readNotifications(session: Session, orderId: Buffer): Promise<TimelineNotification[]> {
  const rows = await session.rows<NotificationRow>(
    `SELECT id, stage, state, attempts, created_at, next_attempt_at, sent_at, last_error
     FROM notification WHERE order_id = ? ORDER BY created_at, id`,
    [orderId],
  );
  return rows.map((row) => ({
    id: row.id,
    stage: row.stage,
    state: row.state,
    attempts: row.attempts,
    createdAt: row.created_at,
    nextAttemptAt: row.next_attempt_at,
    sentAt: row.sent_at,
    lastError: row.last_error,
  }));
}

export async function readShopEvents(session: Session, orderId: Buffer): Promise<TimelineShopEvent[]> {
  const rows = await session.rows<ShopEventRow>(
    `SELECT id, type, state, attempts, created_at, next_attempt_at, sent_at, last_error
     FROM shop_event WHERE order_id = ? ORDER BY seq`,
    [orderId],
  );
  return rows.map((row) => ({
    id: row.id,
    type: row.type,
    state: row.state,
    attempts: row.attempts,
    createdAt: row.created_at,
    nextAttemptAt: row.next_attempt_at,
    sentAt: row.sent_at,
    lastError: row.last_error,
  }));
}

export async function readAttempts(session: Session, orderId: Buffer): Promise<PaymentAttempt[]> {
  const rows = await session.rows<AttemptRow>(
    `SELECT ${attemptColumns} FROM payment_attempt WHERE order_id = ? ORDER BY created_at, id`,
    [orderId],
  );
  return rows.map(toAttempt);
}

export async function readPayments(session: Session, orderId: Buffer): Promise<TimelinePayment[]> {
  const rows = await session.rows<PaymentRow>(
    `SELECT id, event_id, type, payment_id, amount_minor, currency, state, occurred_at, received_at, reason,
       refund_tries, refund_ref, refunded_at, refund_failed_at, last_error
     FROM payment WHERE order_id = ? ORDER BY received_at, id`,
    [orderId],
  );
  return rows.map((row) => ({
    id: row.id,
    eventId: row.event_id.toString(),
    type: row.type,
    paymentId: row.payment_id.toString(),
    amountMinor: row.amount_minor,
    currency: row.currency,
    state: row.state,
    occurredAt: row.occurred_at,
    receivedAt: row.received_at,
    reason: row.reason,
    refundTries: row.refund_tries,
    refundRef: row.refund_ref?.toString() ?? null,
    refundedAt: row.refunded_at,
    refundFailedAt: row.refund_failed_at,
    lastError: row.last_error,
  }));
}

/** Only what still waits for a person. */
export async function readParked(session: Session, orderId: Buffer): Promise<TimelineParked[]> {
  const rows = await session.rows<{ id: number; reason: string; created_at: Date }>(
    "SELECT id, reason, created_at FROM parked WHERE order_id = ? AND state = 'PARKED' ORDER BY created_at, id",
    [orderId],
  );
  return rows.map((row) => ({ id: row.id, reason: row.reason, createdAt: row.created_at }));
}

/** Most actions shown: an operator's script could make any number. */
const actionsMax = 200;

export async function readActions(session: Session, orderId: string): Promise<TimelineAction[]> {
  const rows = await session.rows<{
    at: Date;
    actor: Buffer;
    action: string;
    reason: string;
    detail: string | null;
  }>(
    `SELECT at, actor, action, reason, detail FROM operator_action
     WHERE target_kind = 'order' AND target = ? ORDER BY at, id LIMIT ?`,
    [Buffer.from(orderId), actionsMax],
  );
  return rows.map((row) => ({
    at: row.at,
    actor: userFromBytes(row.actor),
    action: row.action,
    reason: row.reason,
    detail: row.detail === null ? {} : (JSON.parse(row.detail) as TimelineAction['detail']),
  }));
}

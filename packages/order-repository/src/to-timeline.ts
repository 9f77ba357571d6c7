import { toAttempt } from './attempt-row.ts';
import { idFromBytes } from './binary-id.ts';
import { toOrder } from './order-row.ts';
import type { MessageRow } from './read-messages.ts';
import type {
  Timeline,
  TimelineMessage,
  TimelineNotification,
  TimelinePayment,
  TimelineShopEvent,
  TimelineTransition,
} from './timeline.ts';
import type {
  NotificationRow,
  PaymentRow,
  ShopEventRow,
  TimelineRows,
  TransitionRow,
} from './timeline-rows.ts';
import { userFromBytes } from './user-bytes.ts';

/** An order's rows, whether its own tables or the archive had them, as its timeline. */
export function toTimeline(
  rows: TimelineRows,
  rest: Pick<Timeline, 'archivedAt' | 'saleArchivedAt' | 'pendingEffects' | 'parked' | 'actions'>,
): Timeline {
  return {
    order: toOrder(rows.order),
    transitions: rows.transitions.map(toTransition),
    messages: rows.messages.map(toMessage),
    notifications: rows.notifications.map(toNotification),
    shopEvents: rows.shopEvents.map(toShopEvent),
    attempts: rows.attempts.map(toAttempt),
    payments: rows.payments.map(toPayment),
    ...rest,
  };
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

function toMessage(row: MessageRow): TimelineMessage {
  return {
    outboxId: idFromBytes(row.id),
    phase: row.phase,
    orderCount: row.order_count,
    dueAt: row.due_at,
    createdAt: row.created_at,
    sentAt: row.sent_at,
    deliverAt: row.deliver_at,
    messageId: row.message_id,
    attempts: row.attempts,
    lastError: row.last_error,
  };
}

function toNotification(row: NotificationRow): TimelineNotification {
  return { ...toDelivery(row), stage: row.stage, state: row.state };
}

function toShopEvent(row: ShopEventRow): TimelineShopEvent {
  return { ...toDelivery(row), type: row.type, state: row.state };
}

function toDelivery(row: NotificationRow | ShopEventRow) {
  return {
    id: row.id,
    attempts: row.attempts,
    createdAt: row.created_at,
    nextAttemptAt: row.next_attempt_at,
    sentAt: row.sent_at,
    lastError: row.last_error,
  };
}

function toPayment(row: PaymentRow): TimelinePayment {
  return {
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
  };
}

import type { OrderTimeline, TimelineEvent } from '@lapse/contracts';
import type {
  PaymentAttempt,
  Timeline,
  TimelineEffect,
  TimelineMessage,
  TimelinePayment,
  TimelineTransition,
} from '@lapse/order-repository';
import { actionEvent } from './action-event.ts';
import { notificationEvent } from './notification-event.ts';
import { toOrderView } from './order-view.ts';
import { shopEventEvent } from './shop-event-event.ts';
import { event } from './timeline-event.ts';

/** Most events shown. An order has about ten; only a provider that sends without end makes more. */
const eventsMax = 500;

/**
 * Everything known about an order, in plain words, oldest first; what is still to come has a time ahead. Which operator
 * did something, and why, is for operators alone, and so are the text of the error that set it aside and what the shop's
 * own systems were told; its buyer sees what was done. For operators the row of what waits for one of them is named
 * (`parkedRow`, `noticeRow`, `eventRow`, `paymentRow`): by it the row is settled.
 */
export function toOrderTimeline(
  timeline: Timeline,
  { forOperator }: { forOperator: boolean },
): OrderTimeline {
  const { order, archivedAt } = timeline;
  const events: TimelineEvent[] = [
    ...timeline.transitions.map(transitionEvent),
    ...timeline.actions.map((action) => actionEvent(action, forOperator)),
    ...timeline.messages.flatMap(messageEvents),
    ...timeline.notifications.map((notice) => notificationEvent(notice, forOperator)),
    ...(forOperator ? timeline.shopEvents.map(shopEventEvent) : []),
    ...timeline.attempts.flatMap(attemptEvents),
    ...timeline.payments.flatMap((payment) => paymentEvents(payment, forOperator)),
    ...timeline.pendingEffects.map(effectEvent),
    ...timeline.parked.map(({ id, reason, createdAt }) =>
      event(createdAt, 'transition', parkedWords, forOperator ? { parkedRow: id, reason } : {}),
    ),
  ];
  // Stable, so that events of one millisecond keep the order above: the cause before what follows from it.
  events.sort((left, right) => (left.at < right.at ? -1 : left.at > right.at ? 1 : 0));
  return {
    order: toOrderView(order),
    archivedAt: archivedAt?.toISOString() ?? null,
    events: events.slice(0, eventsMax),
  };
}

const parkedWords = 'set aside: it could not be handled and needs a person';

const statusWords = {
  PENDING: 'order placed, places held, waiting for payment',
  PAID: 'paid',
  TIMEOUT_CLOSED: 'closed: not paid in time, places given back',
  CANCELLED: 'cancelled, places given back',
  ABORTED: 'fenced: its places were reserved, but it was never sold',
} as const;

const causeWords = {
  create: '',
  message: ' (by its timeout message)',
  sweep: ' (by the sweep)',
  buyer: ' (by the buyer)',
  payment: '',
  operator: ' (by an operator)',
  settle: ' (by the settler)',
} as const;

function transitionEvent(transition: TimelineTransition): TimelineEvent {
  const { toStatus, fromStatus, cause, version, credit, debit, at } = transition;
  const words = debit > 0 ? 'paid after its close: places taken again' : statusWords[toStatus];
  return event(at, 'transition', `${words}${causeWords[cause]}`, {
    from: fromStatus,
    to: toStatus,
    cause,
    version,
    placesReturned: credit,
    placesTakenAgain: debit,
  });
}

/** Up to two events: written to the outbox, and sent. Its delivery time is part of the second. */
function messageEvents(message: TimelineMessage): TimelineEvent[] {
  const { outboxId, phase, orderCount, dueAt, createdAt, sentAt, deliverAt, messageId } = message;
  const purpose = phase === 1 ? 'reminder' : 'close';
  const events = [
    event(createdAt, 'message', `${purpose} message written to the outbox`, {
      phase,
      outboxId,
      ordersInMessage: orderCount,
      dueAt: dueAt.toISOString(),
    }),
  ];
  if (sentAt) {
    events.push(
      event(sentAt, 'message', `${purpose} message sent to RocketMQ`, {
        phase,
        outboxId,
        messageId,
        deliverAt: deliverAt?.toISOString() ?? null,
      }),
    );
  } else if (message.attempts > 0) {
    events.push(
      event(createdAt, 'message', `${purpose} message not sent yet: RocketMQ did not take it`, {
        phase,
        outboxId,
        attempts: message.attempts,
      }),
    );
  }
  return events;
}

const paymentWords = {
  CAPTURED: 'payment received',
  REFUND_PENDING: 'payment received that this order cannot take: a refund is due',
  REFUNDED: 'payment refunded',
  REFUND_FAILED: 'refund failed at the provider: an operator must order it anew',
  QUARANTINED: 'payment set aside: a person must look',
  DISMISSED: 'payment set aside, and found since to be no money',
  FAILED: 'payment failed at the provider',
  WAITING: 'payment received before its order was written: kept until it is',
} as const;

/** The payment, and its refund once the provider has taken it. */
function paymentEvents(payment: TimelinePayment, forOperator: boolean): TimelineEvent[] {
  const { paymentId, eventId, amountMinor, currency, state, occurredAt, receivedAt, reason } = payment;
  const { refundTries, refundRef, refundedAt, refundFailedAt } = payment;
  const goesBack = refundedAt !== null || refundFailedAt !== null;
  const words = goesBack ? paymentWords.REFUND_PENDING : paymentWords[state];
  const needsPerson = state === 'QUARANTINED' || state === 'REFUND_FAILED';
  const events = [
    event(receivedAt, 'payment', words, {
      paymentId,
      eventId,
      amountMinor,
      currency,
      state,
      reason,
      occurredAt: occurredAt.toISOString(),
      ...(refundTries > 0 && { refundTries }),
      ...(forOperator && needsPerson && { paymentRow: payment.id }),
    }),
  ];
  if (refundFailedAt) {
    events.push(event(refundFailedAt, 'payment', paymentWords.REFUND_FAILED, { paymentId }));
  }
  if (refundedAt) {
    events.push(event(refundedAt, 'payment', paymentWords.REFUNDED, { paymentId, refundRef, refundTries }));
  }
  return events;
}

const attemptWords = {
  CREATING: 'being paid: the provider has not answered yet',
  OPEN: 'being paid: open at the provider',
  CAPTURED: 'payment taken at the provider',
  CANCELLED: 'payment cancelled at the provider: no money will come of it',
  FAILED: 'payment could not begin: the provider refused it',
} as const;

/** When it began, and how it ended. */
function attemptEvents(attempt: PaymentAttempt): TimelineEvent[] {
  const { id, provider, providerRef, state, settleAt, createdAt, endedAt, tries } = attempt;
  const detail = { attemptId: id, provider, providerRef, settlements: tries };
  const began = state === 'CREATING' ? attemptWords.CREATING : attemptWords.OPEN;
  const events = [event(createdAt, 'payment', began, { ...detail, settleAt: settleAt.toISOString() })];
  if (endedAt) events.push(event(endedAt, 'payment', attemptWords[state], detail));
  return events;
}

const effectWords = {
  release: 'places still to be given back in Redis',
  confirm: 'places still to be marked as sold in Redis',
  reacquire: 'places still to be taken again in Redis',
  capacity: 'capacity still to be changed in Redis',
  closed_notice: 'closed notice still to be written',
  shop_event: 'event for the shop still to be written',
} as const;

function effectEvent({ id, kind, createdAt, attempts }: TimelineEffect): TimelineEvent {
  return event(createdAt, 'stock', effectWords[kind], { effectId: id, attempts });
}

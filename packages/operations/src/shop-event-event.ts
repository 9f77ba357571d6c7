import type { TimelineEvent } from '@lapse/contracts';
import type { TimelineShopEvent } from '@lapse/order-repository';
import { event } from './timeline-event.ts';

const shopEventWords = {
  SENT: "delivered to the shop's system",
  HELD: 'held: an earlier event of the order is not delivered yet',
  WAITING: "waiting to be delivered to the shop's system",
  PARKED: 'given up after too many failures',
} as const;

/** What became of an event for the shop's own systems. */
export function shopEventEvent({ id, type, state, attempts, ...times }: TimelineShopEvent): TimelineEvent {
  const { createdAt, nextAttemptAt, sentAt } = times;
  return event(sentAt ?? createdAt, 'shop_event', `event order.${type} ${shopEventWords[state]}`, {
    type,
    state,
    attempts,
    ...(state === 'WAITING' && { nextAttemptAt: nextAttemptAt.toISOString() }),
    ...(state === 'PARKED' && { eventRow: id }),
  });
}

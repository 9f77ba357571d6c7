import { z } from 'zod';
import { activityId, orderId, userId } from './ids.ts';

/** 1: the reminder is due. 2: the order must close if it is still unpaid. */
export type Phase = 1 | 2;

/** Version written by this release. A consumer refuses what it does not know, and parks it. */
export const timeoutMessageVersion = 1;

/** Most orders in one message. A message costs about 5 ms of CPU over all, whatever it carries. */
export const ordersPerMessageMax = 1_024;

/**
 * Largest message body, in bytes: 1,024 orders with user ids of 36 characters are 180,000. Who sends splits by it as well,
 * for longer ones.
 */
export const messageBytesMax = 262_144;

/** One order in a timeout message. Times are milliseconds since 1970, UTC. */
export const timeoutOrder = z.strictObject({
  orderId,
  activityId,
  userId,
  createTime: z.int().positive(),
  /** When this order is due: its reminder time in phase 1, its deadline in phase 2. */
  dueTime: z.int().positive(),
});
export type TimeoutOrder = z.infer<typeof timeoutOrder>;

/**
 * The body of a message on both topics: JSON. `dueTime` is the earliest of its orders.
 * Its identity is the order and the phase, never the broker's message id, which is not unique.
 */
export const timeoutMessage = z.strictObject({
  version: z.literal(timeoutMessageVersion),
  phase: z.union([z.literal(1), z.literal(2)]),
  dueTime: z.int().positive(),
  orders: z.array(timeoutOrder).min(1).max(ordersPerMessageMax),
});
export type TimeoutMessage = z.infer<typeof timeoutMessage>;

/** Topic and consumer group of a phase. `prefix` lets several installations share one broker. */
export function topicOf(phase: Phase, prefix = ''): string {
  return `${prefix}${phase === 1 ? 'order-timeout-reminder' : 'order-timeout-close'}`;
}

export function consumerGroupOf(phase: Phase, prefix = ''): string {
  return `${prefix}${phase === 1 ? 'order-reminder' : 'order-closer'}`;
}

/** Where the broker puts what the group of a phase never acknowledged. The name is RocketMQ's own. */
export function deadLetterTopicOf(phase: Phase, prefix = ''): string {
  return `%DLQ%${consumerGroupOf(phase, prefix)}`;
}

/** The group that reads those dead letters. */
export function deadLetterGroupOf(phase: Phase, prefix = ''): string {
  return `${consumerGroupOf(phase, prefix)}-dead-letters`;
}

/**
 * A row of the message outbox: orders whose timeout message of this phase must be sent. Committed in the
 * transaction that made it necessary; it may be sent more than once, never not at all.
 */
export interface OutboxRow {
  /** UUID version 7. */
  readonly id: string;
  readonly phase: Phase;
  readonly orders: readonly TimeoutOrder[];
}

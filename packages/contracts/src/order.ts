import { z } from 'zod';
import { payWithinMsMax } from './activity.ts';
import { durationMs } from './duration.ts';
import { activityId, operatorReason, orderId } from './ids.ts';
import { instant } from './instant.ts';
import { orderStatuses } from './order-status.ts';

/** Body of `POST /v1/activities/:id/orders`. The buyer is the token's `sub`, never a body field. */
export const createOrderBody = z.strictObject({
  quantity: z.int().min(1).max(100).default(1),
});
export type CreateOrderBody = z.infer<typeof createOrderBody>;

/** Not the default, unlike with repairs: these two were there first, and did what they said. */
const dryRun = z
  .boolean()
  .default(false)
  .describe('Change nothing: answers the order as it is if the change would be made now, else why not.');

/** Body of `POST /v1/orders/:id/extend`: either by a time, or until one. */
export const extendOrderBody = z
  .strictObject({
    byMs: durationMs(1_000, payWithinMsMax, 'So much later than the present deadline.').optional(),
    until: instant.optional().describe('The new deadline; later than the present one.'),
    reason: operatorReason,
    dryRun,
  })
  .refine(({ byMs, until }) => (byMs === undefined) !== (until === undefined), {
    path: ['byMs'],
    message: 'must be given, or until: one of the two',
  });
export type ExtendOrderBody = z.infer<typeof extendOrderBody>;

/** Body of `POST /v1/orders/:id/cancel`: an operator says why, and may try it; a buyer need send none. */
export const cancelOrderBody = z.strictObject({ reason: operatorReason.optional(), dryRun }).nullish();

const time = z.iso.datetime();

/** An order as its buyer sees it. */
export const orderView = z.object({
  id: orderId,
  activityId,
  quantity: z.int(),
  amountMinor: z.int(),
  currency: z.string(),
  status: z.enum(orderStatuses),
  createdAt: time,
  remindAt: time,
  expiresAt: time.describe('Pay before this time, or the order closes.'),
  remindedAt: time.nullable(),
  paidAt: time.nullable(),
  closedAt: time.nullable(),
});
export type OrderView = z.infer<typeof orderView>;

/** One thing that happened, or will, to an order. */
export const timelineEvent = z.object({
  at: time,
  kind: z.enum(['transition', 'message', 'notification', 'payment', 'stock', 'operator', 'shop_event']),
  what: z.string().describe('Plain words, for a person.'),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
});
export type TimelineEvent = z.infer<typeof timelineEvent>;

/** Answer of `GET /v1/orders/:id/timeline`: everything known, oldest first. */
export const orderTimeline = z.object({
  order: orderView,
  archivedAt: z.iso
    .datetime()
    .nullable()
    .describe('When the order went to the archive; null: it is not there, and may be read as any other.'),
  events: z.array(timelineEvent),
});
export type OrderTimeline = z.infer<typeof orderTimeline>;

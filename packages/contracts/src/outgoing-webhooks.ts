import { z } from 'zod';
import { activityId, orderId } from './ids.ts';
import { orderStatuses } from './order-status.ts';

/**
 * What Lapse posts to others, signed per Standard Webhooks. `webhook-id` is the same over all deliveries of one
 * thing: a receiver drops what it has seen.
 */
const time = z.iso.datetime();

const order = {
  orderId,
  activityId,
  userId: z.string(),
  quantity: z.int(),
  amountMinor: z.int().describe('Minor units: cents, fen.'),
  currency: z.string(),
  expiresAt: time,
};

const shopEventTypes = [
  'order.created',
  'order.reminded',
  'order.paid',
  'order.closed',
  'order.cancelled',
  'order.refunded',
] as const;

/** To `LAPSE_SHOP_WEBHOOK_URL`, for the shop's own systems: at least once, and in order for each order. */
export const shopEvent = z.strictObject({
  type: z.enum(shopEventTypes),
  timestamp: time.describe('When it happened.'),
  data: z.strictObject({
    ...order,
    status: z.enum(orderStatuses).optional().describe('Right after the event; not with `order.refunded`.'),
    sequence: z
      .int()
      .describe('Of two events of one order the one with the higher number is the later; gaps mean nothing.'),
    createdAt: time,
    remindAt: time,
    paymentId: z.string().optional().describe('The payment that it is about, if it is about one.'),
  }),
});

/** To `LAPSE_NOTIFY_WEBHOOK_URL`, for a service that passes it on to the buyer: once per order and type, or more. */
export const buyerNotice = z.strictObject({
  type: z.enum(['notice.reminder', 'notice.closed']),
  timestamp: time.describe('When this delivery was sent.'),
  data: z.strictObject({
    ...order,
    activityName: z.string(),
    locale: z.string().describe('The language of the buyer, and of subject and text.'),
    remainingMs: z.int().optional().describe('Left until `expiresAt`; with `notice.reminder`.'),
    payLink: z.string().optional().describe('Where the buyer pays; with `notice.reminder`.'),
    subject: z.string(),
    text: z.string().describe('Plain text, ready to be sent.'),
  }),
});

const anOrder = {
  orderId: '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001',
  activityId: 2,
  userId: 'ann',
  quantity: 1,
  amountMinor: 8_800,
  currency: 'CNY',
  expiresAt: '2030-01-01T12:15:00.000Z',
};

export const shopEventExample: z.infer<typeof shopEvent> = {
  type: 'order.paid',
  timestamp: '2030-01-01T12:11:00.000Z',
  data: {
    ...anOrder,
    status: 'PAID',
    sequence: 2_000,
    createdAt: '2030-01-01T12:00:00.000Z',
    remindAt: '2030-01-01T12:10:00.000Z',
    paymentId: 'pay_1',
  },
};

export const buyerNoticeExample: z.infer<typeof buyerNotice> = {
  type: 'notice.reminder',
  timestamp: '2030-01-01T12:10:00.000Z',
  data: {
    ...anOrder,
    activityName: 'Evening show',
    locale: 'en',
    remainingMs: 300_000,
    payLink: `https://shop.example.com/pay/${anOrder.orderId}`,
    subject: 'Your order for Evening show closes in 5 min',
    text: 'Your order for Evening show (1 place, CN¥88.00) is not paid yet. …',
  },
};

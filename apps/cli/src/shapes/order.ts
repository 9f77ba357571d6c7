import { orderTimeline, orderView } from '@lapse/contracts';
import { explanationTopics } from '@lapse/operations';
import { z } from 'zod';

const ownedOrder = orderView.extend({ userId: z.string() });

/** What Redis holds of an order; null: it did not answer. */
const redisShape = z
  .object({
    state: z.enum(['held', 'sold', 'released', 'none', 'unreadable']),
    quantity: z.int().nullable(),
    at: z.iso.datetime().nullable(),
  })
  .nullable();

/** `lapse order show --json` */
export const orderShowShape = orderTimeline.extend({ order: ownedOrder, redis: redisShape });

/** `lapse order find --json` */
export const orderFindShape = z.object({ orders: z.array(ownedOrder), next: z.string().nullable() });

/** `lapse explain order --json` */
export const explainShape = z.object({
  orderId: z.string(),
  status: z.string(),
  answers: z.array(z.object({ about: z.enum(explanationTopics), says: z.string() })),
  /** Payments that its buyer began. While one is CREATING or OPEN, the provider has not decided. */
  attempts: z.array(
    z.object({
      attemptId: z.string(),
      provider: z.string(),
      providerRef: z.string().nullable(),
      state: z.enum(['CREATING', 'OPEN', 'CAPTURED', 'CANCELLED', 'FAILED']),
      beganAt: z.iso.datetime(),
      endedAt: z.iso.datetime().nullable(),
    }),
  ),
  todo: z.array(z.string()),
});

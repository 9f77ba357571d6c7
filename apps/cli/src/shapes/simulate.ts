import { z } from 'zod';

/** `lapse simulate --json`: what came of a sale that was played. */
export const simulateShape = z.object({
  activityId: z.int(),
  buyers: z.int(),
  /** By what the stores say of the orders. */
  orders: z.record(z.string(), z.int()),
  /** Requests that were refused, by their code. */
  refused: z.record(z.string(), z.int()),
  /** Buyers whose payment came after the close. */
  paidTooLate: z.int(),
  /** The first five of their orders. */
  paidTooLateOrders: z.array(z.string()),
  /** From deadline to close, by the database clock; null when nothing closed. */
  latenessMs: z.object({ p50: z.number(), p99: z.number(), max: z.number() }).nullable(),
  /** Closed before their deadline: must be 0. */
  early: z.int(),
  places: z.object({ capacity: z.int(), free: z.int() }),
  /** MySQL and Redis say the same of every order. */
  agrees: z.boolean(),
  /** Answers that no buyer should have got. */
  unexpected: z.array(z.string()),
});

import { workerView } from '@lapse/contracts';
import { z } from 'zod';

/** Rows that wait, each of many orders, and the age of the oldest; 0 where none waits. */
const queue = z.object({ rows: z.int(), oldestMs: z.int() });

/** `lapse top --json`, once. A part is null where its store does not answer. */
export const topShape = z.object({
  at: z.iso.datetime(),
  orders: z.record(z.string(), z.int()),
  pending: z.int(),
  overdue: z.int(),
  due: z.array(z.object({ withinMs: z.int(), orders: z.int() })),
  outbox: queue,
  effects: queue,
  parked: z.object({ orders: z.int(), messages: z.int(), deadLetters: z.int() }),
  notices: z.object({ failing: z.int(), givenUp: z.int() }),
  shopEvents: z.object({ waiting: z.int(), givenUp: z.int() }),
  money: z.object({
    refundsWaiting: z.int(),
    oldestRefundMs: z.int(),
    refundsFailed: z.int(),
    quarantined: z.int(),
    attemptsDue: z.int(),
    paymentsWaiting: z.int(),
  }),
  workers: z.array(workerView),
  activities: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      capacity: z.int(),
      freeInMysql: z.int(),
      freeInRedis: z.int().nullable(),
      users: z.int().nullable(),
      paused: z.boolean(),
    }),
  ),
});
export type TopView = z.infer<typeof topShape>;

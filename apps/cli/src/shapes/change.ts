import { z } from 'zod';

/** What was asked is not possible. `code` is one of the API's problem codes. */
export const refusedShape = z.object({
  outcome: z.literal('refused'),
  problem: z.looseObject({ code: z.string(), title: z.string(), detail: z.string() }),
});

/** A change by hand. `would_do`: a dry run; `replayed`: the same command with the same key came before. */
export const changeShape = z.object({
  outcome: z.enum(['done', 'replayed', 'would_do']),
  /** What it is now, or is at present: an order, an activity or a refund, as the API shows it. */
  result: z.record(z.string(), z.unknown()),
});

/** There is no such row. */
export const notFoundShape = z.object({ outcome: z.literal('not_found'), id: z.int() });

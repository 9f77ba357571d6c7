import { z } from 'zod';
import { activityId, operatorReason, orderId } from './ids.ts';

/** Shapes of `/v1/ops/…`: what an operator looks at, and settles by hand. */
const time = z.iso.datetime();
const next = z.int().nullable().describe('Give it as `after` to get the next page; null: this was the last.');

/** Most rows of one answer, and most ids of one request. */
export const operationsPageMax = 200;

export const parkedKinds = ['order', 'message', 'dead_letter'] as const;
export const parkedStates = ['PARKED', 'REDRIVEN', 'DROPPED'] as const;

/** Something that could not be handled and was set aside. */
export const parkedView = z.object({
  id: z.int(),
  kind: z.enum(parkedKinds),
  state: z.enum(parkedStates),
  ref: z.string().describe("The broker's id of the message, or the order's id."),
  orderId: orderId.nullable(),
  phase: z.union([z.literal(1), z.literal(2)]).nullable(),
  reason: z.string(),
  body: z.string().nullable().describe('The start of the message, as text.'),
  createdAt: time,
  settledAt: time.nullable(),
});
export type ParkedView = z.infer<typeof parkedView>;
export const parkedList = z.object({ parked: z.array(parkedView), next });

/** Body of `POST /v1/ops/parked/redrive` and `…/drop`. */
export const settleParkedBody = z.strictObject({
  ids: z.array(z.int().positive().max(Number.MAX_SAFE_INTEGER)).min(1).max(operationsPageMax),
  dryRun: z.boolean().default(true).describe('Say what would happen, and change nothing.'),
  reason: operatorReason,
});

/** What became of each, or would. */
export const parkedOutcomes = z.object({
  dryRun: z.boolean(),
  outcomes: z.array(
    z.object({
      id: z.int(),
      changed: z.boolean(),
      kind: z.enum(['redriven', 'dropped', 'settled', 'unreadable', 'still_pending', 'failed', 'not_found']),
      rearmed: z.int().optional(),
      state: z.enum(parkedStates).optional(),
      orderId: orderId.optional(),
      reason: z.string().optional(),
    }),
  ),
});

/** A difference between MySQL and Redis that the auditor found, and what it did. */
const findingView = z.object({
  id: z.string(),
  at: time,
  activityId: activityId.nullable(),
  kind: z.string(),
  action: z.string(),
  detail: z.string(),
  healedAt: time.nullable(),
});
export const findingList = z.object({
  findings: z.array(findingView),
  next: z.string().nullable().describe('Give it as `before` to get the next page; null: this was the last.'),
});

export const refundStates = ['REFUND_PENDING', 'REFUNDED'] as const;

/** Money that came and could not be kept: owed to the buyer, or paid back. */
const refundView = z.object({
  id: z.int(),
  state: z.enum(refundStates),
  refundId: z.string().nullable().describe('Our idempotency key at the provider.'),
  refundRef: z.string().nullable().describe("The provider's own id of the refund."),
  orderId,
  paymentId: z.string(),
  provider: z.string().nullable(),
  amountMinor: z.int(),
  currency: z.string(),
  reason: z.string().nullable().describe('Why the money was not kept.'),
  receivedAt: time,
  refundedAt: time.nullable(),
  tries: z.int(),
  nextTryAt: time.nullable(),
  lastError: z.string().nullable(),
});
export type RefundView = z.infer<typeof refundView>;
export const refundList = z.object({ refunds: z.array(refundView), next });

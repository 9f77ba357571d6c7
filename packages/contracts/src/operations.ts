import { z } from 'zod';
import { activityId, lowerCaseUuid, operatorReason, orderId } from './ids.ts';

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
  settledBy: z.string().nullable().describe('The operator who redrove or dropped it.'),
  settledReason: z.string().nullable().describe('Why, in their words.'),
});
export type ParkedView = z.infer<typeof parkedView>;
export const parkedList = z.object({ parked: z.array(parkedView), next });

const rowId = z.int().positive().max(Number.MAX_SAFE_INTEGER);
const dryRun = z.boolean().default(true).describe('Say what would happen, and change nothing.');

/** Body of `POST /v1/ops/parked/redrive`, `…/drop`, `/v1/ops/refunds/pay` and `…/dismiss`: rows by their numbers. */
export const settleRowsBody = z.strictObject({
  ids: z.array(rowId).min(1).max(operationsPageMax),
  dryRun,
  reason: operatorReason,
});

/** What became of each row, or would. */
function outcomesOf<Outcome extends z.ZodRawShape>(outcome: Outcome) {
  return z.object({
    dryRun: z.boolean(),
    outcomes: z.array(z.object({ changed: z.boolean(), reason: z.string().optional(), ...outcome })),
  });
}

export const parkedOutcomes = outcomesOf({
  id: z.int(),
  kind: z.enum(['redriven', 'dropped', 'settled', 'unreadable', 'still_pending', 'failed', 'not_found']),
  rearmed: z.int().optional(),
  state: z.enum(parkedStates).optional(),
  orderId: orderId.optional(),
});

export const deliveryKinds = ['notification', 'shop_event'] as const;

/** A notice to a buyer, or an event for the shop, that was given up after its tries. */
const undeliveredView = z.object({
  id: z.int(),
  kind: z.enum(deliveryKinds),
  orderId,
  what: z.string().describe('Stage of the notice, or type of the event.'),
  attempts: z.int(),
  lastError: z.string().nullable(),
  createdAt: time,
});
export type UndeliveredView = z.infer<typeof undeliveredView>;
export const undeliveredList = z.object({ undelivered: z.array(undeliveredView), next });

/** Body of `POST /v1/ops/undelivered/resend`. */
export const resendBody = z.strictObject({
  kind: z.enum(deliveryKinds),
  ids: z.array(rowId).min(1).max(operationsPageMax),
  dryRun,
  reason: operatorReason,
});
export const resendOutcomes = outcomesOf({
  id: z.int(),
  kind: z.enum(['resent', 'not_parked', 'failed', 'not_found']),
  orderId: orderId.optional(),
  what: z.string().optional(),
  state: z.string().optional(),
});

const leftEffectKinds = ['closed_notice', 'shop_event'] as const;

/** Notices or events that could not be written, in all their tries: nothing was sent of them yet. */
const leftEffectView = z.object({
  id: z.uuid(),
  kind: z.enum(leftEffectKinds),
  orders: z.int().describe('How many orders it is about.'),
  attempts: z.int(),
  createdAt: time,
});
export type LeftEffectView = z.infer<typeof leftEffectView>;
export const leftEffectList = z.object({
  effects: z.array(leftEffectView),
  next: z.uuid().nullable().describe('Give it as `after` to get the next page; null: this was the last.'),
});

/** Body of `POST /v1/ops/effects/redrive`. */
export const redriveEffectsBody = z.strictObject({
  ids: z.array(lowerCaseUuid).min(1).max(operationsPageMax),
  dryRun,
  reason: operatorReason,
});
export const effectOutcomes = outcomesOf({
  id: z.uuid(),
  kind: z.enum(['redriven', 'not_left', 'failed', 'not_found']),
  effect: z.enum(leftEffectKinds).optional(),
  orders: z.int().optional(),
});

/** A difference between MySQL and Redis that the auditor found, and what it did. */
const findingView = z.object({
  id: z.string(),
  at: time,
  activityId: activityId.nullable(),
  kind: z.string(),
  action: z.string(),
  detail: z.record(z.string(), z.unknown()).describe('The numbers of it, by the kind.'),
  healedAt: time.nullable(),
});
export type FindingView = z.infer<typeof findingView>;
export const findingList = z.object({
  findings: z.array(findingView),
  next: z.string().nullable().describe('Give it as `before` to get the next page; null: this was the last.'),
});

/**
 * QUARANTINED: another amount or currency than the order's; REFUND_FAILED: the provider had taken the refund and could
 * not carry it out. Both wait for an operator. DISMISSED: was QUARANTINED, and an operator found no money to it.
 */
export const refundStates = [
  'REFUND_PENDING',
  'REFUNDED',
  'QUARANTINED',
  'REFUND_FAILED',
  'DISMISSED',
] as const;

/** Money that came and could not be kept: owed to the buyer, paid back, or waiting for an operator to say so. */
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

/** Of `POST /v1/ops/refunds/pay`. */
export const refundOutcomes = outcomesOf({
  id: z.int(),
  kind: z.enum(['refund_due', 'not_refundable', 'contradicts', 'failed', 'not_found']),
  orderId: orderId.optional(),
  paymentId: z.string().optional(),
  amountMinor: z.int().optional().describe('What was captured, and so what goes back.'),
  currency: z.string().optional(),
  state: z.string().optional(),
  other: z
    .object({ id: z.int(), orderId, state: z.string() })
    .optional()
    .describe('Of `contradicts`: the row by which the same money is kept or goes back.'),
});

/** Of `POST /v1/ops/refunds/dismiss`. */
export const dismissOutcomes = outcomesOf({
  id: z.int(),
  kind: z.enum(['dismissed', 'not_quarantined', 'failed', 'not_found']),
  orderId: orderId.optional(),
  paymentId: z.string().optional(),
  state: z.string().optional(),
});

import { z } from 'zod';

/** The wire of the payment simulator: what a shop sends, what it gets, and how it may misbehave. */

const amountMinor = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const currency = z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters');
/** Also what it answers: a shop keeps these ids. */
const reference = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters');

/** `POST /v1/attempts`. Header `Idempotency-Key`: the same key again is the same attempt. */
export const simulatorAttemptBody = z.strictObject({
  /** Comes back in every event, like `orderId`. */
  attemptId: z.uuid(),
  orderId: reference,
  amountMinor,
  currency,
});
export type SimulatorAttemptBody = z.infer<typeof simulatorAttemptBody>;

const simulatorCapture = z.object({
  paymentId: reference,
  amountMinor,
  currency,
  capturedAt: z.iso.datetime(),
});
export type SimulatorCapture = z.infer<typeof simulatorCapture>;

/** `POST /v1/attempts/:ref/pay`: what the buyer does on the provider's page, now or `afterMs` later. */
export const simulatorPayBody = z.strictObject({
  outcome: z.enum(['succeed', 'decline']),
  afterMs: z.int().min(0).max(3_600_000).default(0),
});
export type SimulatorPayBody = z.input<typeof simulatorPayBody>;

/** `POST /v1/refunds`. Header `Idempotency-Key`: without one, each request is a refund of its own. */
export const simulatorRefundBody = z.strictObject({
  paymentId: reference,
  amountMinor: amountMinor.min(1),
  currency,
});
export type SimulatorRefundBody = z.infer<typeof simulatorRefundBody>;

export const simulatorRefund = z.object({
  refundRef: reference,
  /** The `Idempotency-Key` that it came with. */
  refundId: z.string().nullable(),
  paymentId: z.string(),
  amountMinor,
  currency,
  /** `failed`: taken, and then it could not be carried out; the money may be refunded again, under another id. */
  state: z.enum(['pending', 'refunded', 'failed']),
  requestedAt: z.iso.datetime(),
});
export type SimulatorRefund = z.infer<typeof simulatorRefund>;

/** `processing`: the buyer has paid, and the provider does not know yet whether the money comes. */
const simulatorAttemptStates = ['open', 'processing', 'captured', 'cancelled'] as const;

export const simulatorAttempt = z.object({
  providerRef: reference,
  attemptId: z.string(),
  orderId: z.string(),
  amountMinor,
  currency,
  state: z.enum(simulatorAttemptStates),
  payUrl: z.string().max(2_000),
  capture: simulatorCapture.optional(),
  /** Of the capture; those that failed as well. */
  refunds: z.array(simulatorRefund),
});
export type SimulatorAttempt = z.infer<typeof simulatorAttempt>;

/**
 * `GET /v1/ledger`: all money that moved, in order. `next` is the `after` of the next page, or null. `waiting`: what
 * is still to come by itself; at rest all three are zero.
 */
export const simulatorLedger = z.object({
  captures: z.array(simulatorCapture.extend({ providerRef: z.string(), orderId: z.string() })),
  refunds: z.array(simulatorRefund),
  next: z.int().nullable(),
  waiting: z.object({ events: z.int(), payments: z.int(), refunds: z.int() }),
});
export type SimulatorLedger = z.infer<typeof simulatorLedger>;

const rate = z.number().min(0).max(1).default(0);
const waitMs = (byDefault: number) => z.int().min(0).max(600_000).default(byDefault);

/**
 * How the simulator misbehaves: each rate is the share of cases, 0 to 1. What happens to an attempt depends on
 * `seed` and the attempt's ids alone, not on what else goes on, so that a run can be repeated.
 */
export const simulatorFaults = z.strictObject({
  seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(1),
  /** API calls answered with 500: half of them before anything happened, half after it did. */
  apiError: rate,
  /** API calls never answered, likewise; the connection is cut after `apiTimeoutMs`. */
  apiTimeout: rate,
  apiTimeoutMs: waitMs(30_000),
  /** Payments that stay `processing` for `processingMs`, and cannot be cancelled meanwhile. */
  processing: rate,
  processingMs: waitMs(2_000),
  /** Cancels of an open attempt that come a moment too late: the buyer has just paid. */
  captureAtCancel: rate,
  /** Captures of one minor unit less than was asked for. */
  wrongAmount: rate,
  /** Captures in another currency. */
  wrongCurrency: rate,
  /** Refunds that are `pending` for `processingMs`. */
  refundPending: rate,
  /** Events delivered twice, with the same id. */
  duplicate: rate,
  /** Captures told by two events with different ids. */
  twin: rate,
  /** Captures followed by an event `payment.failed` that is older. */
  staleFailed: rate,
  /** Events that are held back until another one has been delivered, or for twice `delayMs`. */
  reorder: rate,
  /** Events that are late by up to `delayMs`. */
  delay: rate,
  delayMs: waitMs(2_000),
  /** Events whose first delivery is lost. */
  dropFirst: rate,
});
export type SimulatorFaults = z.infer<typeof simulatorFaults>;

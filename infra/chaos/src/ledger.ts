import type { OrderView } from '@lapse/contracts';

/** One wish to buy: one idempotency key, sent as often as it takes. */
export interface Purchase {
  readonly user: string;
  readonly activityId: number;
  readonly quantity: number;
  readonly key: string;
  /** Every order that a 201 or 200 named for this key. More than one is a fault. */
  readonly orders: Map<string, OrderView>;
  /** The one answer, when the first request was answered at once and definitely: then no order may exist. */
  refused: string | undefined;
}

/** A payment at the provider: sent until the shop has accepted it, as providers do. */
export interface Payment {
  readonly paymentId: string;
  readonly orderId: string;
  readonly amountMinor: number;
  /** With the amount that the order asks for. */
  readonly right: boolean;
  /** Outcomes that the API named, one for each delivery that was answered. */
  readonly outcomes: string[];
}

export interface Cancellation {
  readonly orderId: string;
  answered: string | undefined;
}

/** An operator's wish to give an order more time, once an order. */
export interface Extension {
  readonly byMs: number;
  /** The deadline that the API answered; without an answer the order may have it or not. */
  answeredExpiresAt: number | undefined;
}

/** What the API was asked and what it promised, kept by those who asked. */
export interface Ledger {
  readonly purchases: Purchase[];
  readonly payments: Payment[];
  readonly cancellations: Cancellation[];
  /** By order. */
  readonly extensions: Map<string, Extension>;
  /** Payments that a restored backup does not have, and whose money had gone back by then. */
  readonly paidBackUnknown: Set<string>;
  /** Answers that must never come: a 500, a body that cannot be read, a 401 for a good token. */
  readonly unexpected: string[];
  /** Requests by status, 0 for no answer. */
  readonly statuses: Map<number, number>;
}

export function createLedger(): Ledger {
  return {
    purchases: [],
    payments: [],
    cancellations: [],
    extensions: new Map(),
    paidBackUnknown: new Set(),
    unexpected: [],
    statuses: new Map(),
  };
}

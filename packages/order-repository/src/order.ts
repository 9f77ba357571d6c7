import type { OrderStatus } from '@lapse/contracts';

/** An order as MySQL holds it. Times are UTC with milliseconds, by the database clock where it decided. */
export interface Order {
  /** UUID version 7, lower case. */
  readonly id: string;
  readonly activityId: number;
  readonly userId: string;
  readonly quantity: number;
  readonly amountMinor: number;
  readonly currency: string;
  readonly locale: string;
  readonly status: OrderStatus;
  /** 1 when created; one more with each status change. */
  readonly version: number;
  readonly createdAt: Date;
  readonly remindAt: Date;
  readonly expiresAt: Date;
  /** What the buyer was answered, once an operator has moved the deadline; null: remindAt and expiresAt. */
  readonly firstRemindAt: Date | null;
  readonly firstExpiresAt: Date | null;
  readonly remindedAt: Date | null;
  readonly paidAt: Date | null;
  readonly closedAt: Date | null;
  /** Empty once it is older than 24 hours, and for an ABORTED order: it fences a hold, nobody asked for it. */
  readonly idempotencyKey: string;
  /** SHA-256 of the request: the same key with another hash is another request. */
  readonly requestHash: Buffer;
}

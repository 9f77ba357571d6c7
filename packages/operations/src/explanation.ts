import type { OrderStatus } from '@lapse/contracts';
import type { Activity, AttemptState, Timeline } from '@lapse/order-repository';
import type { HoldLook } from '@lapse/stock';

/** What an answer is about: the order's state, its places, its buyer, its money, the shop's own systems. */
export const explanationTopics = ['state', 'places', 'buyer', 'money', 'shop'] as const;
export type ExplanationTopic = (typeof explanationTopics)[number];

/** The life of an order in plain sentences. */
export interface OrderExplanation {
  readonly orderId: string;
  readonly status: OrderStatus;
  readonly answers: readonly { readonly about: ExplanationTopic; readonly says: string }[];
  /** Payments that its buyer began, oldest first. */
  readonly attempts: readonly ExplainedAttempt[];
  /** What a person has to do, and the command that does it; empty: nothing. */
  readonly todo: readonly string[];
}

/** A payment that was begun. While it is CREATING or OPEN, the provider has not decided. */
export interface ExplainedAttempt {
  readonly attemptId: string;
  readonly provider: string;
  readonly providerRef: string | null;
  readonly state: AttemptState;
  readonly beganAt: string;
  readonly endedAt: string | null;
}

/** Everything that is known of an order, from both stores. */
export interface ExplainedOrder {
  readonly timeline: Timeline;
  /** Null where Redis did not answer. */
  readonly hold: HoldLook | null;
  /** Of its activity: for how long a payment under way is waited for, and what becomes of money that comes too late. */
  readonly sale: Pick<Activity, 'paymentGraceMs' | 'latePaymentPolicy'> | undefined;
  /** How buyers are told, where this is set here; undefined: not known, since no notice keeps it. */
  readonly noticeChannel?: string | undefined;
  /** By the database clock, in milliseconds since 1970. */
  readonly nowMs: number;
}

/** How times and amounts are written where the explanation is read. */
export interface ExplanationWords {
  time(at: Date): string;
  amount(amountMinor: number, currency: string): string;
}

/** The sentences of one topic, and what is to be done. */
export interface Answer {
  readonly says: readonly string[];
  readonly todo?: readonly string[];
}

import type { PaymentOutcome, PaymentWebhookBody } from '@lapse/contracts';
import type { Order } from './order.ts';
import type { RowRefused } from './settle-result.ts';
import type { StockEffect } from './stock-effect.ts';

/** A verified event of the payment provider. */
export interface PaymentEvent {
  /** The provider's id of the event: the same id is the same event. */
  readonly eventId: string;
  readonly type: PaymentWebhookBody['type'];
  readonly paymentId: string;
  readonly orderId: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly occurredAt: Date;
  /** Who sent it, and so pays it back; a payment without one is paid back by the provider that is configured. */
  readonly provider?: string | null;
  /** The attempt that it came of, as the provider calls it. */
  readonly providerRef?: string | null;
  /** What of it was with the buyer again when the provider was asked. An event of the provider does not say. */
  readonly returned?: ReturnedMoney | null;
}

/** Of a capture, by refunds that this database may know nothing of. */
export interface ReturnedMoney {
  readonly amountMinor: number;
  /** Our id of the refund and the provider's, where it was one alone; by ours we are told should it fail after all. */
  readonly refundId: string | null;
  readonly refundRef: string | null;
}

export type PaymentResult =
  | {
      readonly outcome: Exclude<PaymentOutcome, 'kept'>;
      readonly order: Order;
      readonly effect?: StockEffect;
    }
  /**
   * No such order, or not yet: a capture is kept and applied later, or quarantined when it contradicts another one;
   * nothing else is worth keeping for that. One whose money has gone back is decided without an order.
   */
  | {
      readonly outcome: 'kept' | 'ignored' | 'duplicate' | 'quarantined' | 'refunded';
      readonly order?: undefined;
      readonly effect?: undefined;
    };

export type PaymentState =
  | 'CAPTURED'
  | 'REFUND_PENDING'
  | 'REFUNDED'
  /** The provider had taken the refund, and could not carry it out. */
  | 'REFUND_FAILED'
  | 'QUARANTINED'
  /** It was in quarantine; a person has found that there is no money to it. */
  | 'DISMISSED'
  | 'FAILED'
  | 'WAITING';

/** Of a payment whose money goes back, or waits or waited for a person to say so. */
export type RefundState = Extract<
  PaymentState,
  'QUARANTINED' | 'DISMISSED' | 'REFUND_FAILED' | 'REFUND_PENDING' | 'REFUNDED'
>;

/** A kept payment, due to be tried again. */
export interface WaitingPayment {
  readonly id: number;
  readonly event: PaymentEvent;
  /** How long it has been kept, by the database clock. */
  readonly waitedMs: number;
}

/** Money that must go back. */
export interface RefundJob {
  /** Of the payment's row. */
  readonly id: number;
  /** UUID, and the idempotency key of the refund at the provider: the same for each try. */
  readonly refundId: string;
  readonly orderId: string;
  readonly paymentId: string;
  readonly amountMinor: number;
  readonly currency: string;
  /** Tries begun, this one included. */
  readonly tries: number;
}

/** One try of a refund, as it was claimed. */
export type RefundTry = Pick<RefundJob, 'id' | 'refundId' | 'tries'>;

/** Of a refund that the provider has accepted. `superseded`: paid by hand or ordered anew meanwhile; look at it. */
export type FinishRefundResult = 'finished' | 'known' | 'superseded';

/** The provider says that a refund which it had taken will not arrive. */
export interface RefundFailure {
  readonly paymentId: string;
  /** Our id of the refund, as it was given to the provider. */
  readonly refundId: string;
  /** The provider's own id of it, and its reason, where it tells them. */
  readonly refundRef: string | null;
  readonly reason: string | null;
}

/** `duplicate`: known before. `ignored`: no refund of ours, or one that was ordered anew since. */
export type RefundFailureResult = 'refund_failed' | 'duplicate' | 'ignored';

/** What becomes of one payment that an operator wants paid back, or would. */
export type RefundOutcome =
  | RowRefused<number>
  | ({ readonly id: number; readonly changed: boolean } & (
      | {
          readonly kind: 'refund_due';
          readonly orderId: string;
          readonly paymentId: string;
          /** What was captured, and so what goes back. */
          readonly amountMinor: number;
          readonly currency: string;
        }
      /** It is kept, on its way back, or paid back: there is nothing to order. */
      | { readonly kind: 'not_refundable'; readonly state: PaymentState }
      /** The same payment's money is kept, or goes back, by the other row: it would go back twice. */
      | {
          readonly kind: 'contradicts';
          readonly paymentId: string;
          readonly other: { readonly id: number; readonly orderId: string; readonly state: PaymentState };
        }
      | { readonly kind: 'not_found' }
    ));

/** What becomes of one payment that an operator has found to be no money, or would. */
export type DismissOutcome =
  | RowRefused<number>
  | ({ readonly id: number; readonly changed: boolean } & (
      | { readonly kind: 'dismissed'; readonly orderId: string; readonly paymentId: string }
      | { readonly kind: 'not_quarantined'; readonly state: PaymentState }
      | { readonly kind: 'not_found' }
    ));

export interface RefundRecord {
  readonly id: number;
  readonly state: RefundState;
  readonly refundId: string | null;
  readonly refundRef: string | null;
  readonly orderId: string;
  readonly paymentId: string;
  readonly provider: string | null;
  readonly amountMinor: number;
  readonly currency: string;
  /** Why the money was not kept. */
  readonly reason: string | null;
  readonly receivedAt: Date;
  readonly refundedAt: Date | null;
  readonly tries: number;
  readonly nextTryAt: Date | null;
  readonly lastError: string | null;
}

export interface RefundFilter {
  readonly state: RefundState;
  /** Records after this one; 0 for the first page. */
  readonly afterId: number;
  readonly limit: number;
}

/** What the settler has before it, by the database clock. Ages are 0 where there is nothing. */
export interface PaymentBacklog {
  readonly refundsWaiting: number;
  readonly oldestRefundMs: number;
  readonly attemptsDue: number;
  readonly oldestAttemptMs: number;
  readonly paymentsWaiting: number;
  /** Set aside for a person: another amount or currency than the order's. */
  readonly quarantined: number;
  /** Refunds that the provider could not carry out: a person must order them anew. */
  readonly refundsFailed: number;
}

import type {
  PaymentWebhookBody,
  RefundFailedWebhookBody,
  SimulatorCapture,
  SimulatorRefund,
} from '@lapse/contracts';

/** What a shop asked for. `providerRef` is random and long: it is all that guards a payment page. */
export interface AttemptTerms {
  readonly providerRef: string;
  /** The payment that it becomes, if any; fixed from the start, as a provider's events name it. */
  readonly paymentId: string;
  readonly attemptId: string;
  readonly orderId: string;
  readonly amountMinor: number;
  readonly currency: string;
}

/** One delivery of one event. Two of them may carry the same event. */
export interface Delivery {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly body: PaymentWebhookBody | RefundFailedWebhookBody;
  readonly sendAt: number;
  /** Sent as soon as another delivery got through, else at `sendAt`. */
  readonly held: boolean;
  readonly firstIsLost: boolean;
}

export type Outcome = 'succeed' | 'decline';

/**
 * A line of the journal: one decision with all that follows from it, so that a process that dies leaves all of it
 * or nothing. Times are milliseconds since 1970.
 */
export type JournalRecord =
  | { readonly kind: 'attempt'; readonly key: string | null; readonly terms: AttemptTerms }
  | { readonly kind: 'click'; readonly ref: string; readonly outcome: Outcome; readonly dueAt: number }
  | { readonly kind: 'processing'; readonly ref: string; readonly dueAt: number }
  | {
      readonly kind: 'captured';
      readonly ref: string;
      readonly capture: SimulatorCapture;
      readonly deliveries: readonly Delivery[];
    }
  | { readonly kind: 'declined'; readonly ref: string; readonly deliveries: readonly Delivery[] }
  | { readonly kind: 'cancelled'; readonly ref: string }
  | { readonly kind: 'refund'; readonly refund: SimulatorRefund; readonly dueAt: number | null }
  | { readonly kind: 'refunded'; readonly refundRef: string }
  | { readonly kind: 'refund_failed'; readonly refundRef: string; readonly deliveries: readonly Delivery[] }
  | {
      readonly kind: 'delivered';
      readonly deliveryId: string;
      readonly tries: number;
      readonly gaveUp: boolean;
    };

import type { PaymentState } from './payment.ts';

/** A refund that a person has paid, and how it is known from now on. */
export interface RefundPaidByHand {
  /** Of the payment's row. */
  readonly id: number;
  readonly orderId: string;
  readonly paymentId: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly refundRef: string;
}

/** Why a refund was not marked as paid. */
export type RefundPaidByHandRefusal =
  | { readonly kind: 'not_found' }
  /** Nothing is owed: the money was kept, is quarantined, or went back before. */
  | { readonly kind: 'not_owed'; readonly state: PaymentState }
  /** The settler is asking the provider for it at this moment; it has an answer after that time at the latest. */
  | { readonly kind: 'being_paid'; readonly forMs: number };

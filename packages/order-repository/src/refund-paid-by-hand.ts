import type { PaymentState } from './payment.ts';

const byHand = 'by-hand';

/** How a refund that a person has paid is known from then on. */
export function refOfPaidByHand(reference: string | null): string {
  return reference === null ? byHand : `${byHand}:${reference}`;
}

/** The money is back in another way than by the provider: nothing that the provider says of it changes that. */
export function isPaidByHand(refundRef: Buffer | null): boolean {
  const text = refundRef?.toString();
  return text === byHand || text?.startsWith(`${byHand}:`) === true;
}

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

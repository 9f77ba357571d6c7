import type { PaymentOutcome, PaymentWebhookBody } from '@lapse/contracts';
import type { Order } from './order.ts';
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
}

export type PaymentResult =
  | { readonly outcome: PaymentOutcome; readonly order: Order; readonly effect?: StockEffect }
  | { readonly outcome: 'order_not_found' };

export type PaymentState = 'CAPTURED' | 'REFUND_PENDING' | 'REFUNDED' | 'QUARANTINED' | 'FAILED';

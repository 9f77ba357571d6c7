import type { Stripe } from 'stripe';
import { statusOfCapture } from './captured-status.ts';
import type { AttemptStatus, Capture } from './payment-provider.ts';
import { ProviderUnavailableError } from './provider-errors.ts';
import { fromStripeAmount } from './stripe-amount.ts';
import { readRefunds } from './stripe-refunds.ts';

/**
 * What a PaymentIntent has come to. `requires_capture` is money set aside and not taken: we never ask for that, but
 * an account's settings may, and then the attempt can still be cancelled. What may still be paid or cancelled is not
 * decided: `processing`, asked after a cancel. A PaymentIntent stays `succeeded` when all its money has gone back, so
 * its refunds are read as well.
 */
export async function attemptStatusOf(stripe: Stripe, intent: Stripe.PaymentIntent): Promise<AttemptStatus> {
  switch (intent.status) {
    case 'succeeded':
      return statusOfCapture(captureOf(intent), await readRefunds(stripe, intent.id));
    case 'canceled':
      return { kind: 'cancelled' };
    case 'processing':
    case 'requires_payment_method':
    case 'requires_confirmation':
    case 'requires_action':
    case 'requires_capture':
      return { kind: 'processing' };
    default:
      throw new ProviderUnavailableError(`stripe answered the unknown status ${intent.status}`);
  }
}

/** The PaymentIntent is the payment: it captures once, and a refund may name it. */
function captureOf(intent: Stripe.PaymentIntent): Capture {
  const { latest_charge: charge } = intent;
  const seconds = typeof charge === 'object' && charge !== null ? charge.created : intent.created;
  return {
    paymentId: intent.id,
    ...fromStripeAmount(intent.amount_received, intent.currency),
    capturedAt: new Date(seconds * 1_000),
  };
}

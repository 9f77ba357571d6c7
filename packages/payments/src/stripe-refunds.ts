import type { Stripe } from 'stripe';
import type { KnownRefund } from './captured-status.ts';
import type { RefundAnswer, RefundRequest } from './payment-provider.ts';
import { ProviderUnavailableError } from './provider-errors.ts';
import { fromStripeAmount, toStripeAmount } from './stripe-amount.ts';

/** A payment has been refunded in parts at most this often; ours is refunded once. */
const refundsListedMax = 100;

/**
 * Stripe forgets an idempotency key after a day, and a refund may be asked for longer than that. So the refund is
 * looked for first, by its id in the metadata; the key covers two requests at once.
 */
export async function makeRefund(stripe: Stripe, request: RefundRequest): Promise<RefundAnswer> {
  const { refundId, paymentId, amountMinor, currency } = request;
  const refunds = await listRefunds(stripe, paymentId);
  const earlier = refunds.find(({ metadata }) => metadata?.refund_id === refundId);
  if (earlier) return refundAnswerOf(earlier);
  const made = await stripe.refunds.create(
    {
      payment_intent: paymentId,
      amount: toStripeAmount(amountMinor, currency),
      metadata: { refund_id: refundId },
    },
    { idempotencyKey: refundId },
  );
  return refundAnswerOf(made);
}

/** All refunds of a payment: each by itself, for the sum on its charge does not say which of them may still fail. */
export async function readRefunds(stripe: Stripe, paymentId: string): Promise<KnownRefund[]> {
  const refunds = await listRefunds(stripe, paymentId);
  return refunds.map((refund) => {
    const { kind: state, refundRef } = refundAnswerOf(refund);
    const { amountMinor } = fromStripeAmount(refund.amount, refund.currency);
    return { state, amountMinor, refundId: refund.metadata?.refund_id, refundRef };
  });
}

async function listRefunds(stripe: Stripe, paymentId: string): Promise<Stripe.Refund[]> {
  const answer = await stripe.refunds.list({ payment_intent: paymentId, limit: refundsListedMax });
  if (!Array.isArray(answer.data))
    throw new ProviderUnavailableError('stripe answered what is no list of refunds');
  // Of a part of them nobody can say what went back.
  if (answer.has_more)
    throw new ProviderUnavailableError(`stripe has over ${refundsListedMax} refunds of ${paymentId}`);
  return answer.data;
}

function refundAnswerOf({ id, status, failure_reason: reason }: Stripe.Refund): RefundAnswer {
  if (status === 'succeeded') return { kind: 'refunded', refundRef: id };
  if (status === 'pending' || status === 'requires_action') return { kind: 'pending', refundRef: id };
  if (status === 'failed' || status === 'canceled') {
    return { kind: 'failed', refundRef: id, reason: reason ?? status };
  }
  throw new ProviderUnavailableError(`stripe answered the unknown refund status ${status}`);
}

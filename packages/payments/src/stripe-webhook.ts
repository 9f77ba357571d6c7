import { orderId as orderIdForm, webhookToleranceSeconds } from '@lapse/contracts';
import type { Logger } from '@lapse/runtime';
import { Stripe } from 'stripe';
import type { ProviderEvent, SignedRequest } from './payment-provider.ts';
import { WebhookBodyError } from './provider-errors.ts';
import { fromStripeAmount } from './stripe-amount.ts';

/** An event's id becomes a key in MySQL. */
const eventIdForm = /^[\x21-\x7e]{1,128}$/;

/**
 * Check and read Stripe's webhooks: header `stripe-signature`, HMAC-SHA256 over time and raw body (scheme `v1`
 * alone), compared in constant time by the SDK. The SDK refuses what is older than five minutes; what comes from
 * the future is refused here.
 */
export function openStripeWebhooks(
  stripe: Stripe,
  secret: string,
  log: Logger,
): (request: SignedRequest) => ProviderEvent | undefined {
  return ({ rawBody, headers }) => {
    const header = headers['stripe-signature'];
    if (typeof header !== 'string' || isFromTheFuture(header)) return undefined;
    let event: Stripe.Event;
    try {
      event = stripe.webhooks.constructEvent(rawBody, header, secret, webhookToleranceSeconds);
    } catch (error) {
      if (error instanceof Stripe.errors.StripeSignatureVerificationError) return undefined;
      // The signature was good, or the SDK would have said so.
      throw new WebhookBodyError([{ field: 'body', message: 'is not an event of Stripe' }]);
    }
    return readEvent(event, log);
  };
}

/** The last `t` counts, as for the SDK. */
function isFromTheFuture(header: string): boolean {
  const times = header
    .split(',')
    .filter((part) => part.startsWith('t='))
    .map((part) => Number(part.slice(2)));
  const seconds = times.at(-1) ?? Number.NaN;
  return !(seconds - Date.now() / 1_000 <= webhookToleranceSeconds);
}

function readEvent(event: Stripe.Event, log: Logger): ProviderEvent {
  const { id: eventId, type } = event;
  if (typeof type !== 'string' || !eventIdForm.test(eventId)) {
    throw new WebhookBodyError([{ field: 'body', message: 'has no event id or type' }]);
  }
  if (type !== 'payment_intent.succeeded' && type !== 'payment_intent.payment_failed') {
    return { kind: 'other', eventId, type };
  }
  const intent = event.data.object;
  const order = orderIdForm.safeParse(intent.metadata?.order_id);
  if (!order.success) {
    // An account may take other payments as well, which are none of ours.
    log.warn({ eventId, paymentIntent: intent.id }, 'a payment at Stripe without an order of ours; ignored');
    return { kind: 'other', eventId, type };
  }
  const succeeded = type === 'payment_intent.succeeded';
  return {
    kind: succeeded ? 'captured' : 'failed',
    eventId,
    orderId: order.data,
    providerRef: intent.id,
    paymentId: intent.id,
    ...fromStripeAmount(succeeded ? intent.amount_received : intent.amount, intent.currency),
    occurredAt: new Date(event.created * 1_000),
  };
}

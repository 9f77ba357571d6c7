import { orderId as orderIdForm, webhookToleranceSeconds } from '@lapse/contracts';
import type { Logger } from '@lapse/runtime';
import { Stripe } from 'stripe';
import { z } from 'zod';
import type { ProviderEvent, SignedRequest } from './payment-provider.ts';
import { WebhookBodyError } from './provider-errors.ts';
import { fromStripeAmount } from './stripe-amount.ts';
import { readRefundEvent } from './stripe-refund-event.ts';
import { parseBody } from './webhook-faults.ts';

/** An id becomes a key in MySQL. */
const id = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters');
const amount = z.int().min(0);

/** What every event has. Those that mean nothing to an order may have any shape beside it. */
const anyEvent = z.object({ id, type: z.string().min(1).max(128) });

const intentTypes = ['payment_intent.succeeded', 'payment_intent.payment_failed'] as const;
const intentEvent = z.object({
  id,
  type: z.enum(intentTypes),
  /** Seconds since 1970; the last is in the year 9999, as far as MySQL goes. */
  created: z.int().min(0).max(253_402_300_799),
  data: z.object({
    object: z.object({
      id,
      amount,
      amount_received: amount,
      currency: z.string().regex(/^[a-z]{3}$/, 'must be three small letters'),
      metadata: z.object({ order_id: z.unknown().optional() }).nullish(),
    }),
  }),
});

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
    let event: unknown;
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

function readEvent(event: unknown, log: Logger): ProviderEvent {
  const { id: eventId, type } = parseBody(anyEvent, event);
  if (type === 'refund.failed' || type === 'refund.updated') return readRefundEvent(eventId, type, event);
  if (!intentTypes.some((known) => known === type)) return { kind: 'other', eventId, type };
  const { created, data } = parseBody(intentEvent, event);
  const intent = data.object;
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
    occurredAt: new Date(created * 1_000),
  };
}

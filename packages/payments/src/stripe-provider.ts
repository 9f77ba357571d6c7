import type { Logger } from '@lapse/runtime';
import { Stripe } from 'stripe';
import type { AttemptStatus, PaymentProvider } from './payment-provider.ts';
import { ProviderUnavailableError } from './provider-errors.ts';
import { toStripeAmount } from './stripe-amount.ts';
import { attemptStatusOf } from './stripe-attempt.ts';
import { stripeErrorOf, stripeName } from './stripe-errors.ts';
import { stripeFetch } from './stripe-fetch.ts';
import { makeRefund } from './stripe-refunds.ts';
import { openStripeWebhooks } from './stripe-webhook.ts';

export interface StripeProviderConfig {
  readonly secretKey: string;
  readonly webhookSecret: string;
  readonly apiUrl: string | undefined;
  readonly timeoutMs: number;
}

/** The charge is where the moment of the capture stands. */
const withCharge: { expand: string[] } = { expand: ['latest_charge'] };

/** PaymentIntents at Stripe. Amounts are minor units, also where a currency has no decimals. */
export function openStripeProvider(config: StripeProviderConfig, log: Logger): PaymentProvider {
  const stripe = openClient(config);
  return {
    name: stripeName,
    createAttempt: (request) =>
      asking(async () => {
        const { attemptId, orderId, amountMinor, currency } = request;
        const intent = await stripe.paymentIntents.create(
          {
            amount: toStripeAmount(amountMinor, currency),
            currency: currency.toLowerCase(),
            capture_method: 'automatic',
            automatic_payment_methods: { enabled: true },
            metadata: { order_id: orderId, attempt_id: attemptId },
          },
          { idempotencyKey: attemptId },
        );
        if (!intent.id) throw new ProviderUnavailableError('stripe answered a create without an id');
        return { providerRef: intent.id, payUrl: null, clientSecret: intent.client_secret };
      }),
    cancelAttempt: (ref) => asking(() => cancel(stripe, ref)),
    refund: (request) => asking(() => makeRefund(stripe, request)),
    verifyWebhook: openStripeWebhooks(stripe, config.webhookSecret, log),
    close: async () => {},
  };
}

/**
 * No retries inside: whoever calls has its own, with the time that is left in view. Its fetch client bounds the
 * whole call, where the default one bounds each silence only. No telemetry.
 */
function openClient({ secretKey, apiUrl, timeoutMs }: StripeProviderConfig): Stripe {
  const address = apiUrl === undefined ? undefined : new URL(apiUrl);
  const plain = address?.protocol === 'http:';
  return new Stripe(secretKey, {
    maxNetworkRetries: 0,
    timeout: timeoutMs,
    telemetry: false,
    httpClient: Stripe.createFetchHttpClient(stripeFetch),
    appInfo: { name: 'Lapse' },
    ...(address && {
      host: address.hostname,
      port: address.port || (plain ? 80 : 443),
      protocol: plain ? 'http' : 'https',
    }),
  });
}

/**
 * Without an idempotency key of ours; the SDK makes one up for each call. Under a fixed one Stripe would repeat the
 * first answer for a day, also "cannot be cancelled now". A cancel needs none, it is idempotent by what it does.
 */
async function cancel(stripe: Stripe, ref: string): Promise<AttemptStatus> {
  try {
    const { status } = await stripe.paymentIntents.cancel(ref, { cancellation_reason: 'abandoned' });
    if (status === 'canceled') return { kind: 'cancelled' };
  } catch (error) {
    const tooLate =
      error instanceof Stripe.errors.StripeError && error.code === 'payment_intent_unexpected_state';
    if (!tooLate) throw error;
  }
  // It succeeded, is being decided, or was cancelled before: the intent itself says which.
  return attemptStatusOf(stripe, await stripe.paymentIntents.retrieve(ref, withCharge));
}

async function asking<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw stripeErrorOf(error);
  }
}

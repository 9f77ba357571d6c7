import type { Logger, PaymentConfig } from '@lapse/runtime';
import { boundProvider } from './bound-provider.ts';
import type { PaymentProvider, ProviderEvent, SignedRequest } from './payment-provider.ts';
import { openSimulatorProvider } from './simulator-provider.ts';
import { openStandardWebhooks } from './standard-webhooks.ts';

/** The configured provider; null with `none`: then attempts cannot be made, and nothing is settled or refunded. */
export async function openPaymentProvider(
  config: PaymentConfig,
  log: Logger,
): Promise<PaymentProvider | null> {
  const { provider, timeoutMs } = config;
  if (provider === 'none') return null;
  log.info({ provider, timeoutMs }, 'payment provider');
  return boundProvider(await openAdapter(config, provider, log), timeoutMs);
}

async function openAdapter(
  config: PaymentConfig,
  provider: Exclude<PaymentConfig['provider'], 'none'>,
  log: Logger,
): Promise<PaymentProvider> {
  const { timeoutMs } = config;
  if (provider === 'stripe') {
    // Two hundred files that no other provider needs.
    const { openStripeProvider } = await import('./stripe-provider.ts');
    return openStripeProvider(
      {
        secretKey: required(config.stripeSecretKey, 'LAPSE_STRIPE_SECRET_KEY'),
        webhookSecret: required(config.stripeWebhookSecret, 'LAPSE_STRIPE_WEBHOOK_SECRET'),
        apiUrl: config.stripeApiUrl,
        timeoutMs,
      },
      log,
    );
  }
  return openSimulatorProvider({
    url: required(config.url, 'LAPSE_PAYMENT_URL'),
    apiKey: required(config.apiKey, 'LAPSE_PAYMENT_API_KEY'),
    webhookSecret: required(config.webhookSecret, 'LAPSE_PAYMENT_WEBHOOK_SECRET'),
    timeoutMs,
  });
}

/**
 * How webhooks are checked: by the provider, or with `none` per Standard Webhooks, as a shop that starts payments
 * itself signs them.
 */
export function openWebhookCheck(
  config: PaymentConfig,
  provider: PaymentProvider | null,
): (request: SignedRequest) => ProviderEvent | undefined {
  if (provider) return (request) => provider.verifyWebhook(request);
  return openStandardWebhooks(required(config.webhookSecret, 'LAPSE_PAYMENT_WEBHOOK_SECRET'));
}

/** The settings' own check has made sure of it; this is for a caller that builds a config by hand. */
function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new Error(`the payment provider needs ${name}`);
  return value;
}

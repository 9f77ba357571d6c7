import { defineGroup, type SettingFault } from './setting.ts';
import { duration, matching, oneOf, url, webhookSecret } from './values.ts';

const loopback = /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/;

export const paymentGroup = defineGroup(
  {
    provider: {
      env: 'LAPSE_PAYMENT_PROVIDER',
      schema: oneOf('none', 'simulator', 'stripe'),
      default: 'none',
      example: 'stripe',
      help: 'Who takes the money. `none`: your shop starts payments itself, and signed webhooks tell how they ended.',
    },
    url: {
      env: 'LAPSE_PAYMENT_URL',
      schema: url(
        ['https:', 'http:'],
        'must be an http or https URL without user and password',
        ({ username, password }) => username === '' && password === '',
      ),
      optional: true,
      example: 'http://127.0.0.1:8090',
      help: 'Address of the payment simulator.',
    },
    apiKey: {
      env: 'LAPSE_PAYMENT_API_KEY',
      schema: matching(/^[\x21-\x7e]{16,256}$/, 'must be 16 to 256 printable ASCII characters'),
      optional: true,
      example: 'the output of: openssl rand -base64 32',
      help: 'Key for the payment simulator: its LAPSE_SIM_API_KEY.',
      secret: true,
    },
    webhookSecret: {
      env: 'LAPSE_PAYMENT_WEBHOOK_SECRET',
      schema: webhookSecret(),
      optional: true,
      example: 'whsec_ and the output of: openssl rand -base64 32',
      help: "Secret that signs the payment provider's webhooks, per Standard Webhooks. Required, but not with Stripe.",
      secret: true,
    },
    stripeSecretKey: {
      env: 'LAPSE_STRIPE_SECRET_KEY',
      schema: matching(
        /^(?:sk|rk)_(?:test|live)_[A-Za-z0-9_]{8,256}$/,
        'must be a key that begins with sk_test_, sk_live_, rk_test_ or rk_live_',
      ),
      optional: true,
      example: 'the secret key of your Stripe account',
      help: "Key for Stripe's API; a restricted one needs to write PaymentIntents and Refunds.",
      secret: true,
    },
    stripeWebhookSecret: {
      env: 'LAPSE_STRIPE_WEBHOOK_SECRET',
      schema: matching(/^whsec_[\x21-\x7e]{16,256}$/, 'must be whsec_ and at least 16 characters'),
      optional: true,
      example: 'the signing secret of your Stripe webhook endpoint',
      help: "Secret that signs Stripe's webhooks.",
      secret: true,
    },
    stripeApiUrl: {
      env: 'LAPSE_STRIPE_API_URL',
      schema: url(
        ['https:', 'http:'],
        'must be an https URL without path, or an http one on this machine',
        ({ protocol, hostname, pathname, username, search }) =>
          (protocol === 'https:' || loopback.test(hostname)) &&
          pathname === '/' &&
          username === '' &&
          search === '',
      ),
      optional: true,
      example: 'http://127.0.0.1:12111',
      help: "Another address of Stripe's API, for tests.",
    },
    timeoutMs: {
      env: 'LAPSE_PAYMENT_TIMEOUT',
      schema: duration(100, 60_000),
      default: '5s',
      example: '3s',
      help: 'Longest time of one call to the provider.',
    },
  },
  ({ provider, ...given }) => {
    const needed = {
      none: { LAPSE_PAYMENT_WEBHOOK_SECRET: given.webhookSecret },
      simulator: {
        LAPSE_PAYMENT_URL: given.url,
        LAPSE_PAYMENT_API_KEY: given.apiKey,
        LAPSE_PAYMENT_WEBHOOK_SECRET: given.webhookSecret,
      },
      stripe: {
        LAPSE_STRIPE_SECRET_KEY: given.stripeSecretKey,
        LAPSE_STRIPE_WEBHOOK_SECRET: given.stripeWebhookSecret,
      },
    }[provider];
    return Object.entries(needed)
      .filter(([, value]) => value === undefined)
      .map(
        ([env]): SettingFault => ({ env, fault: `is missing: LAPSE_PAYMENT_PROVIDER=${provider} needs it` }),
      );
  },
);

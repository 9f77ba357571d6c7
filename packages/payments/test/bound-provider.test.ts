import { createLogger, readConfig } from '@lapse/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPaymentProvider, type PaymentProvider, ProviderUnavailableError } from '../src/index.ts';
import { openStripeProvider } from '../src/stripe-provider.ts';
import { answerJson, openStandIn, type StandIn } from './stand-in.ts';

const log = createLogger('test', 'silent');
const secretKey = 'sk_test_of_the_tests_alone';
const webhookSecret = 'whsec_of_the_tests_alone';
const attempt = {
  attemptId: '0198c0de-7000-7000-8000-000000000002',
  orderId: '0198c0de-7000-7000-8000-000000000001',
  amountMinor: 8_800,
  currency: 'CNY',
};
const refund = { refundId: attempt.attemptId, paymentId: 'pi_1', amountMinor: 8_800, currency: 'CNY' };

let standIn: StandIn;
beforeAll(async () => {
  standIn = await openStandIn();
});
afterAll(() => standIn.close());

const openStripe = async (timeoutMs: number): Promise<PaymentProvider> => {
  const { payment } = readConfig(
    {
      LAPSE_PAYMENT_PROVIDER: 'stripe',
      LAPSE_STRIPE_SECRET_KEY: secretKey,
      LAPSE_STRIPE_WEBHOOK_SECRET: webhookSecret,
      LAPSE_STRIPE_API_URL: standIn.url,
      LAPSE_PAYMENT_TIMEOUT: `${timeoutMs}ms`,
    },
    ['payment'],
  );
  const provider = await openPaymentProvider(payment, log);
  if (!provider) throw new Error('no provider');
  return provider;
};
const answers = (body: unknown, refunds: unknown = body) => {
  standIn.answer = ({ path }, response) =>
    answerJson(response, 200, path.startsWith('/v1/refunds') ? refunds : body);
};
const none = { object: 'list', data: [], has_more: false };
const intent = (change: object) => ({ id: 'pi_1', status: 'succeeded', currency: 'cny', ...change });

describe('a call of two requests', () => {
  const timeoutMs = 1_000;
  const firstAnswerMs = 700;
  /** The first request is answered late, the second never. */
  const halfSilent = () => {
    let requests = 0;
    standIn.answer = (_request, response) => {
      requests += 1;
      if (requests > 1) return;
      setTimeout(
        () => answerJson(response, 200, { object: 'list', data: [], has_more: false }),
        firstAnswerMs,
      );
    };
  };
  const msOf = async (provider: PaymentProvider) => {
    halfSilent();
    const startedAt = performance.now();
    await expect(provider.refund(refund)).rejects.toThrow(ProviderUnavailableError);
    return performance.now() - startedAt;
  };

  it('ends in one timeout, and not in one for each request: leases are counted by it', async () => {
    expect(await msOf(await openStripe(timeoutMs))).toBeLessThan(timeoutMs + firstAnswerMs - 100);
  });

  it('negative control: the adapter alone takes longer than the timeout', async () => {
    const bare = openStripeProvider({ secretKey, webhookSecret, apiUrl: standIn.url, timeoutMs }, log);
    expect(await msOf(bare)).toBeGreaterThan(timeoutMs + firstAnswerMs - 100);
  });
});

describe('an answer that MySQL has no room for counts as none', () => {
  it.each([
    ['a reference', intent({ id: `pi_${'x'.repeat(255)}`, client_secret: 'x' })],
    ['a secret', intent({ client_secret: 'x'.repeat(501) })],
    ['a reference with a line break', intent({ id: 'pi_1\n', client_secret: 'x' })],
  ])('%s of a new attempt', async (_, body) => {
    answers(body);
    const provider = await openStripe(20_000);
    await expect(provider.createAttempt(attempt)).rejects.toThrow(ProviderUnavailableError);
    // What is short enough passes: the bound is at fault, and not the test.
    answers(intent({ client_secret: 'x'.repeat(500) }));
    expect(await provider.createAttempt(attempt)).toMatchObject({ providerRef: 'pi_1' });
  });

  it.each([
    ['no amount', { amount_received: undefined }],
    ['no currency', { currency: undefined }],
    ['a currency that is none', { currency: 'money' }],
    ['a time that is none', { created: 'yesterday' }],
    ['a time beyond all calendars', { created: 1e15 }],
    ['a payment id that is too long', { id: `pi_${'x'.repeat(129)}` }],
  ])('a capture with %s', async (_, change) => {
    answers(intent({ amount_received: 8_800, created: 1_700_000_000, ...change }), none);
    await expect((await openStripe(20_000)).cancelAttempt('pi_1')).rejects.toThrow(ProviderUnavailableError);
    // Nothing else of the answer is at fault.
    answers(intent({ amount_received: 8_800, created: 1_700_000_000 }), none);
    expect(await (await openStripe(20_000)).cancelAttempt('pi_1')).toMatchObject({ kind: 'captured' });
  });

  it.each([
    ['no amount', { amount: undefined }],
    ['an amount of nothing', { amount: 0 }],
    ['an id that is too long', { id: `re_${'x'.repeat(255)}` }],
  ])('a refund of a capture with %s', async (_, change) => {
    const back = { id: 're_1', status: 'succeeded', amount: 8_800, currency: 'cny', ...change };
    answers(intent({ amount_received: 8_800, created: 1_700_000_000 }), { ...none, data: [back] });
    await expect((await openStripe(20_000)).cancelAttempt('pi_1')).rejects.toThrow('cannot be kept');
  });

  it('a refund whose id is too long', async () => {
    const made = {
      id: `re_${'x'.repeat(255)}`,
      status: 'succeeded',
      metadata: { refund_id: refund.refundId },
    };
    answers({ object: 'list', data: [made], has_more: false });
    await expect((await openStripe(20_000)).refund(refund)).rejects.toThrow(ProviderUnavailableError);
  });

  it('an answer of Stripe without end, though it says 200, is cut off', async () => {
    answers(intent({ client_secret: 'x', padding: 'x'.repeat(2_000_000) }));
    await expect((await openStripe(20_000)).createAttempt(attempt)).rejects.toThrow('longer than');
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ProviderRefusedError, ProviderUnavailableError } from '../src/index.ts';
import type { PaymentProvider } from '../src/payment-provider.ts';
import { openSimulatorProvider } from '../src/simulator-provider.ts';
import { answerJson, openStandIn, type StandIn } from './stand-in.ts';

const apiKey = 'a-key-of-the-tests-alone';
const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
/** For what is meant to be answered; the machine may be busy. */
const timeoutMs = 20_000;
const shortTimeoutMs = 300;
const attemptId = '0198c0de-7000-7000-8000-000000000002';
const request = {
  attemptId,
  orderId: '0198c0de-7000-7000-8000-000000000001',
  amountMinor: 100,
  currency: 'CNY',
};
const refundRequest = { refundId: attemptId, paymentId: 'pay_1', amountMinor: 100, currency: 'CNY' };
const view = {
  ...request,
  providerRef: 'pa_1',
  state: 'open',
  payUrl: 'http://127.0.0.1/pay/pa_1',
  refunds: [],
};
const capture = {
  paymentId: 'pay_1',
  amountMinor: 100,
  currency: 'CNY',
  capturedAt: '2026-01-01T12:00:00.000Z',
};

const captured = {
  ...{ kind: 'captured', capture: { ...capture, capturedAt: new Date(capture.capturedAt) } },
  returned: null,
};
const refunded = {
  ...{ refundRef: 're_1', refundId: attemptId, paymentId: 'pay_1', amountMinor: 100, currency: 'CNY' },
  ...{ state: 'refunded', requestedAt: capture.capturedAt },
};

let standIn: StandIn;
let provider: PaymentProvider;
beforeAll(async () => {
  standIn = await openStandIn();
  provider = openSimulatorProvider({ url: standIn.url, apiKey, webhookSecret, timeoutMs });
});
afterAll(() => standIn.close());
beforeEach(() => {
  standIn.requests.length = 0;
});
const answers = (status: number, body: unknown) => {
  standIn.answer = (_request, response) => answerJson(response, status, body);
};
const calls: [string, () => Promise<unknown>][] = [
  ['createAttempt', () => provider.createAttempt(request)],
  ['cancelAttempt', () => provider.cancelAttempt('pa_1')],
  ['refund', () => provider.refund(refundRequest)],
];

describe('calls', () => {
  it('an attempt is created under its own id as the idempotency key, with the API key', async () => {
    answers(201, view);
    expect(await provider.createAttempt(request)).toEqual({
      providerRef: 'pa_1',
      payUrl: view.payUrl,
      clientSecret: null,
    });
    const [sent] = standIn.requests;
    expect(sent).toMatchObject({
      method: 'POST',
      path: '/v1/attempts',
      headers: { authorization: `Bearer ${apiKey}`, 'idempotency-key': attemptId },
    });
    expect(JSON.parse(sent?.body ?? '')).toEqual(request);
  });

  it.each([
    ['open', { kind: 'processing' }],
    ['processing', { kind: 'processing' }],
    ['cancelled', { kind: 'cancelled' }],
    ['captured', captured],
  ])('what a cancel came to is read: %s', async (state, status) => {
    answers(200, { ...view, state, ...(state === 'captured' && { capture }) });
    expect(await provider.cancelAttempt('pa_1')).toEqual(status);
    expect(standIn.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/attempts/pa_1/cancel',
    ]);
  });

  it.each([
    [
      'went back',
      [refunded],
      { ...captured, returned: { amountMinor: 100, refundId: attemptId, refundRef: 're_1' } },
    ],
    ['is on its way back', [{ ...refunded, state: 'pending' }], { kind: 'processing' }],
    ['stayed, for the refund failed', [{ ...refunded, state: 'failed' }], captured],
  ])('money that was captured and %s is told so', async (_, refunds, status) => {
    answers(200, { ...view, state: 'captured', capture, refunds });
    expect(await provider.cancelAttempt('pa_1')).toEqual(status);
  });

  it('a refund carries its id as the idempotency key', async () => {
    answers(201, {
      ...refundRequest,
      refundRef: 're_1',
      state: 'pending',
      requestedAt: capture.capturedAt,
    });
    expect(await provider.refund(refundRequest)).toEqual({ kind: 'pending', refundRef: 're_1' });
    expect(standIn.requests[0]?.headers['idempotency-key']).toBe(refundRequest.refundId);
  });

  it('a reference from elsewhere cannot leave its place in the address', async () => {
    answers(200, view);
    await provider.cancelAttempt('../refunds?x=1#y');
    expect(standIn.requests[0]?.path).toBe('/v1/attempts/..%2Frefunds%3Fx%3D1%23y/cancel');
  });
});

describe('errors', () => {
  it.each([500, 502, 503, 429, 408, 401, 403, 302])(
    '%i says nothing of the request: ask again',
    async (status) => {
      answers(status, { error: 'later' });
      for (const [, call] of calls) await expect(call()).rejects.toThrow(ProviderUnavailableError);
    },
  );

  it.each([400, 404, 409, 422])('%i is a refusal', async (status) => {
    answers(status, { code: 'NO' });
    for (const [, call] of calls) {
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ProviderRefusedError);
      expect((error as Error).message).toContain(String(status));
    }
  });

  it.each([
    ['no JSON', 'text'],
    ['another shape', { providerRef: 1 }],
    ['an address that is too long to keep', { ...view, payUrl: `https://${'x'.repeat(2_000)}` }],
    ['a reference that is too long to keep', { ...view, providerRef: 'x'.repeat(256) }],
    ['captured without the capture', { ...view, state: 'captured' }],
    ['captured without its refunds', { ...view, state: 'captured', capture, refunds: undefined }],
  ])('an answer with %s counts as none', async (_, body) => {
    answers(200, body);
    await expect(provider.cancelAttempt('pa_1')).rejects.toThrow(ProviderUnavailableError);
  });

  it('an answer without end is cut off', async () => {
    answers(200, 'x'.repeat(100_000));
    await expect(provider.cancelAttempt('pa_1')).rejects.toThrow('longer than 65536 bytes');
  });

  it.each([
    ['never comes', () => {}],
    [
      'begins and stops',
      (_: unknown, response: import('node:http').ServerResponse) => void response.writeHead(200).write('{'),
    ],
  ])('an answer that %s ends at the timeout', async (_, answer) => {
    standIn.answer = answer;
    const hasty = openSimulatorProvider({
      url: standIn.url,
      apiKey,
      webhookSecret,
      timeoutMs: shortTimeoutMs,
    });
    const startedAt = performance.now();
    await expect(hasty.createAttempt(request)).rejects.toThrow(ProviderUnavailableError);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(shortTimeoutMs - 20);
    expect(performance.now() - startedAt).toBeLessThan(timeoutMs);
  });

  it('a provider that is not there is unavailable, and no error names the key', async () => {
    const gone = openSimulatorProvider({ url: 'http://127.0.0.1:1', apiKey, webhookSecret, timeoutMs });
    const error = await gone.cancelAttempt('pa_1').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProviderUnavailableError);
    expect(String(error)).not.toContain(apiKey);
  });
});

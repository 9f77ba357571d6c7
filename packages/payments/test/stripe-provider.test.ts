import { createHmac } from 'node:crypto';
import { createLogger } from '@lapse/runtime';
import { Stripe } from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ProviderRefusedError, ProviderUnavailableError, WebhookBodyError } from '../src/index.ts';
import type { PaymentProvider } from '../src/payment-provider.ts';
import { fromStripeAmount, toStripeAmount } from '../src/stripe-amount.ts';
import { openStripeProvider } from '../src/stripe-provider.ts';
import { answerJson, openStandIn, type ReceivedRequest, type StandIn } from './stand-in.ts';

const secretKey = 'sk_test_of_the_tests_alone';
const webhookSecret = 'whsec_of_the_tests_alone';
/** For what is meant to be answered; the machine may be busy. */
const timeoutMs = 20_000;
const shortTimeoutMs = 300;
const log = createLogger('test', 'silent');
const orderId = '0198c0de-7000-7000-8000-000000000001';
const attemptId = '0198c0de-7000-7000-8000-000000000002';
const refundId = '0198c0de-7000-7000-8000-000000000003';
const request = { attemptId, orderId, amountMinor: 8_800, currency: 'CNY' };
const refundRequest = { refundId, paymentId: 'pi_1', amountMinor: 8_800, currency: 'CNY' };

const intent = (change: object = {}) => ({
  id: 'pi_1',
  object: 'payment_intent',
  status: 'requires_payment_method',
  amount: 8_800,
  amount_received: 0,
  currency: 'cny',
  created: 1_700_000_000,
  client_secret: 'pi_1_secret_x',
  latest_charge: null,
  metadata: { order_id: orderId, attempt_id: attemptId },
  ...change,
});
const succeeded = {
  status: 'succeeded',
  amount_received: 8_800,
  latest_charge: { id: 'ch_1', created: 1_700_000_099 },
};
const capture = {
  paymentId: 'pi_1',
  amountMinor: 8_800,
  currency: 'CNY',
  capturedAt: new Date(1_700_000_099_000),
};
/** Of one payment, as `GET /v1/refunds` lists them. */
const refunds = (...data: object[]) => [200, { object: 'list', data, has_more: false }] as const;
const back = (change: object = {}) => ({
  ...{ id: 're_1', object: 'refund', status: 'succeeded', amount: 8_800, currency: 'cny', metadata: {} },
  ...change,
});
const stripeError = (status: number, code: string, type = 'invalid_request_error') =>
  [status, { error: { type, code, message: `no: ${code}` } }] as const;

let standIn: StandIn;
let provider: PaymentProvider;
beforeAll(async () => {
  standIn = await openStandIn();
  provider = openStripeProvider({ secretKey, webhookSecret, apiUrl: standIn.url, timeoutMs }, log);
});
afterAll(() => standIn.close());
beforeEach(() => {
  standIn.requests.length = 0;
});

/** One answer per "METHOD /path", the query left out. */
const answers = (routes: Record<string, readonly [status: number, body: unknown]>) => {
  standIn.answer = ({ method, path }, response) => {
    const [status, body] = routes[`${method} ${path.split('?')[0]}`] ?? stripeError(404, 'unknown_route');
    answerJson(response, status, body);
  };
};
/** A cancel that comes too late, and the attempt as it is. */
const refused = (now: object) =>
  ({
    'POST /v1/payment_intents/pi_1/cancel': stripeError(400, 'payment_intent_unexpected_state'),
    'GET /v1/payment_intents/pi_1': [200, now],
    'GET /v1/refunds': refunds(),
  }) as const;
const always = (status: number, body: unknown) => {
  standIn.answer = (_request, response) => answerJson(response, status, body);
};
const sent = () => standIn.requests.map(({ method, path }) => `${method} ${path.split('?')[0]}`);
const bodyOf = (received: ReceivedRequest | undefined) =>
  Object.fromEntries(new URLSearchParams(received?.body));
const calls: [string, () => Promise<unknown>][] = [
  ['createAttempt', () => provider.createAttempt(request)],
  ['cancelAttempt', () => provider.cancelAttempt('pi_1')],
  ['refund', () => provider.refund(refundRequest)],
];

describe('an attempt', () => {
  it('is a PaymentIntent under its own id as the idempotency key, that names order and attempt', async () => {
    answers({ 'POST /v1/payment_intents': [200, intent()] });
    expect(await provider.createAttempt(request)).toEqual({
      providerRef: 'pi_1',
      payUrl: null,
      clientSecret: 'pi_1_secret_x',
    });
    const [received] = standIn.requests;
    expect(received?.headers['idempotency-key']).toBe(attemptId);
    expect(received?.headers.authorization).toBe(`Bearer ${secretKey}`);
    expect(bodyOf(received)).toEqual({
      amount: '8800',
      currency: 'cny',
      capture_method: 'automatic',
      'automatic_payment_methods[enabled]': 'true',
      'metadata[order_id]': orderId,
      'metadata[attempt_id]': attemptId,
    });
  });

  it('asks once, tells nothing of the machine or of earlier calls', async () => {
    answers({ 'POST /v1/payment_intents': [200, intent()] });
    await provider.createAttempt(request);
    await provider.createAttempt(request);
    for (const { headers } of standIn.requests) {
      expect(headers['x-stripe-client-telemetry']).toBeUndefined();
      const agent = JSON.parse(String(headers['x-stripe-client-user-agent']));
      expect(agent.platform).toBeUndefined();
      expect(agent.telemetry_id).toBeUndefined();
    }
    expect(standIn.requests).toHaveLength(2);
  });

  it.each([
    ['requires_payment_method', 'processing'],
    ['requires_confirmation', 'processing'],
    ['requires_action', 'processing'],
    ['requires_capture', 'processing'],
    ['processing', 'processing'],
    ['canceled', 'cancelled'],
  ])('that is still %s at Stripe after a cancel was refused is %s', async (status, kind) => {
    answers(refused(intent({ status })));
    expect(await provider.cancelAttempt('pi_1')).toEqual({ kind });
  });

  it('that succeeded is captured: what was received, at the time of the charge', async () => {
    answers(refused(intent(succeeded)));
    expect(await provider.cancelAttempt('pi_1')).toEqual({ kind: 'captured', capture, returned: null });
    expect(standIn.requests[1]?.path).toContain('expand');
    expect(standIn.requests[2]?.path).toContain('payment_intent=pi_1');
    // Received, not asked for: a part payment must be seen as one.
    answers(refused(intent({ ...succeeded, amount_received: 1 })));
    expect(await provider.cancelAttempt('pi_1')).toMatchObject({ capture: { amountMinor: 1 } });
  });

  const returned = { amountMinor: 8_800, refundId: null, refundRef: null };
  const ours = { refund_id: refundId };
  const failed = back({ id: 're_0', status: 'failed', metadata: ours });
  const capturedWith = (what: object | null) => ({ kind: 'captured', capture, returned: what });
  it.each([
    [
      'all of it, by a refund of ours',
      [back({ metadata: ours })],
      { ...returned, refundId, refundRef: 're_1' },
    ],
    ['all of it, by hand at Stripe', [back()], { ...returned, refundRef: 're_1' }],
    [
      'all of it, under an id that is none',
      [back({ metadata: { refund_id: 'x' } })],
      { ...returned, refundRef: 're_1' },
    ],
    ['all of it, in two parts', [back({ amount: 8_799 }), back({ id: 're_2', amount: 1 })], returned],
    ['a part of it', [back({ amount: 1 })], { amountMinor: 1, refundId: null, refundRef: 're_1' }],
    ['nothing, for the refund failed', [failed], null],
    ['nothing, for it was canceled', [back({ status: 'canceled' })], null],
    ['all of it, after one that failed', [failed, back()], { ...returned, refundRef: 're_1' }],
  ])('that succeeded, and of which %s went back, says so', async (_, list, what) => {
    answers({ ...refused(intent(succeeded)), 'GET /v1/refunds': refunds(...list) });
    expect(await provider.cancelAttempt('pi_1')).toEqual(capturedWith(what));
  });

  it.each(['pending', 'requires_action'])(
    'that succeeded, and whose refund is %s, is not decided: the money may still stay',
    async (status) => {
      const list = [back({ amount: 1 }), back({ status })];
      answers({ ...refused(intent(succeeded)), 'GET /v1/refunds': refunds(...list) });
      expect(await provider.cancelAttempt('pi_1')).toEqual({ kind: 'processing' });
    },
  );

  it.each([
    ['are not told', stripeError(500, 'x', 'api_error')],
    ['are more than are read', [200, { object: 'list', data: [], has_more: true }] as const],
    ['are no list', [200, {}] as const],
    ['have a status that nobody knows', refunds(back({ status: 'magic' }))],
  ])('that succeeded, and whose refunds %s, is unknown: no order is paid by it', async (_, list) => {
    answers({ ...refused(intent(succeeded)), 'GET /v1/refunds': list });
    await expect(provider.cancelAttempt('pi_1')).rejects.toThrow(ProviderUnavailableError);
  });

  it('of a status that nobody knows counts as no answer', async () => {
    answers(refused(intent({ status: 'requires_magic' })));
    await expect(provider.cancelAttempt('pi_1')).rejects.toThrow(ProviderUnavailableError);
  });
});

describe('a cancel', () => {
  const unexpected = stripeError(400, 'payment_intent_unexpected_state');
  const path = 'POST /v1/payment_intents/pi_1/cancel';
  const read = 'GET /v1/payment_intents/pi_1';

  it('that Stripe does is answered as cancelled; no two share an idempotency key', async () => {
    answers({ [path]: [200, intent({ status: 'canceled' })] });
    expect(await provider.cancelAttempt('pi_1')).toEqual({ kind: 'cancelled' });
    expect(await provider.cancelAttempt('pi_1')).toEqual({ kind: 'cancelled' });
    expect(sent()).toEqual([path, path]);
    // Under one key Stripe would repeat "not now" for a day.
    const keys = standIn.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).not.toBe(keys[1]);
  });

  it.each([
    ['was cancelled before', intent({ status: 'canceled' }), { kind: 'cancelled' }],
    ['is being decided', intent({ status: 'processing' }), { kind: 'processing' }],
    ['may be paid again by now', intent(), { kind: 'processing' }],
  ])('that Stripe refuses because it %s says what it has come to', async (_, now, status) => {
    answers({ [path]: unexpected, [read]: [200, now] });
    expect(await provider.cancelAttempt('pi_1')).toEqual(status);
    expect(sent()).toEqual([path, read]);
  });

  it('that Stripe refuses because it succeeded meanwhile says what was captured, and what went back', async () => {
    answers({ [path]: unexpected, [read]: [200, intent(succeeded)], 'GET /v1/refunds': refunds() });
    expect(await provider.cancelAttempt('pi_1')).toEqual({ kind: 'captured', capture, returned: null });
    expect(sent()).toEqual([path, read, 'GET /v1/refunds']);
  });

  it('that was refused, and then nobody answers, is unknown', async () => {
    answers({ [path]: unexpected, [read]: [500, { error: { type: 'api_error', message: 'x' } }] });
    await expect(provider.cancelAttempt('pi_1')).rejects.toThrow(ProviderUnavailableError);
  });

  it('of an attempt that Stripe does not know is refused', async () => {
    answers({ [path]: stripeError(404, 'resource_missing') });
    await expect(provider.cancelAttempt('pi_1')).rejects.toThrow(ProviderRefusedError);
  });
});

describe('a refund', () => {
  const create = 'POST /v1/refunds';
  const list = 'GET /v1/refunds';

  it.each([
    ['succeeded', 'refunded'],
    ['pending', 'pending'],
    ['requires_action', 'pending'],
  ])('that is %s at Stripe is %s; its id is the idempotency key', async (status, kind) => {
    answers({ [list]: refunds(), [create]: [200, back({ status })] });
    expect(await provider.refund(refundRequest)).toEqual({ kind, refundRef: 're_1' });
    const received = standIn.requests.at(-1);
    expect(received?.headers['idempotency-key']).toBe(refundId);
    expect(bodyOf(received)).toEqual({
      payment_intent: 'pi_1',
      amount: '8800',
      'metadata[refund_id]': refundId,
    });
  });

  it('that was made before is found by its id, and not made again: Stripe forgets keys after a day', async () => {
    const earlier = back({ id: 're_0', metadata: { refund_id: refundId } });
    const other = back({ metadata: { refund_id: attemptId } });
    answers({ [list]: refunds(other, earlier) });
    expect(await provider.refund(refundRequest)).toEqual({ kind: 'refunded', refundRef: 're_0' });
    expect(sent()).toEqual([list]);
    expect(standIn.requests[0]?.path).toContain('payment_intent=pi_1');
  });

  it.each([
    ['failed', 'expired_or_canceled_card', 'expired_or_canceled_card'],
    ['canceled', undefined, 'canceled'],
  ])('that %s is told as failed: no money went back', async (status, failureReason, reason) => {
    answers({ [list]: refunds(), [create]: [200, back({ status, failure_reason: failureReason })] });
    expect(await provider.refund(refundRequest)).toEqual({ kind: 'failed', refundRef: 're_1', reason });
  });

  it('that the balance does not cover now is tried again later', async () => {
    answers({ [list]: refunds(), [create]: stripeError(400, 'balance_insufficient') });
    await expect(provider.refund(refundRequest)).rejects.toThrow(ProviderUnavailableError);
  });
});

describe('errors', () => {
  it.each([
    [500, 'api_error'],
    [503, 'api_error'],
    [429, 'rate_limit_error'],
    [401, 'authentication_error'],
    [403, 'invalid_request_error'],
    [409, 'idempotency_error'],
  ])('%i says nothing of the request, and is not asked again from inside', async (status, type) => {
    always(...stripeError(status, status === 409 ? 'idempotency_key_in_use' : 'x', type));
    for (const [, call] of calls) {
      standIn.requests.length = 0;
      await expect(call()).rejects.toThrow(ProviderUnavailableError);
      expect(standIn.requests).toHaveLength(1);
    }
  });

  it.each([
    [400, 'invalid_request_error', 'parameter_invalid_integer'],
    [402, 'card_error', 'card_declined'],
    [404, 'invalid_request_error', 'resource_missing'],
    [400, 'idempotency_error', 'x'],
  ])('%i (%s) is a refusal that says why', async (status, type, code) => {
    always(...stripeError(status, code, type));
    for (const [, call] of calls) {
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ProviderRefusedError);
      expect(String(error)).toContain(code);
      expect(String(error)).toContain('req_1');
      expect(String(error)).not.toContain(secretKey);
    }
  });

  it.each([
    ['a proxy’s own 503', 503, { message: 'upstream' }],
    ['a firewall’s own 403', 403, { blocked: true }],
    ['a redirect', 302, {}],
    ['a 404 without Stripe’s shape', 404, 'not found'],
    ['a list where an object should be', 200, []],
    ['an empty object', 200, {}],
  ])('%s never passes for an answer of Stripe', async (_, status, body) => {
    always(status, body);
    for (const [, call] of calls) await expect(call()).rejects.toThrow(ProviderUnavailableError);
  });

  it.each([
    ['never comes', () => {}],
    [
      'begins and stops',
      (_: unknown, response: import('node:http').ServerResponse) => void response.writeHead(200).write('{'),
    ],
  ])('an answer that %s ends at the timeout', async (_, answer) => {
    standIn.answer = answer;
    const hasty = openStripeProvider(
      { secretKey, webhookSecret, apiUrl: standIn.url, timeoutMs: shortTimeoutMs },
      log,
    );
    const startedAt = performance.now();
    await expect(hasty.cancelAttempt('pi_1')).rejects.toThrow(ProviderUnavailableError);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(shortTimeoutMs - 20);
    expect(performance.now() - startedAt).toBeLessThan(timeoutMs);
  });

  it('a Stripe that is not there is unavailable', async () => {
    const gone = openStripeProvider(
      { secretKey, webhookSecret, apiUrl: 'http://127.0.0.1:1', timeoutMs },
      log,
    );
    await expect(gone.cancelAttempt('pi_1')).rejects.toThrow(ProviderUnavailableError);
  });
});

describe('amounts', () => {
  it.each([
    ['CNY', 8_800, 8_800],
    // No decimals: minor units are whole yen, for us and for Stripe.
    ['JPY', 500, 500],
    ['KWD', 5_120, 5_120],
    // Stripe counts these otherwise than ISO 4217.
    ['ISK', 5, 500],
    ['UGX', 5, 500],
    ['MGA', 500, 5],
  ])('%s: %i minor units are %i at Stripe, and back', (currency, amountMinor, units) => {
    expect(toStripeAmount(amountMinor, currency)).toBe(units);
    expect(fromStripeAmount(units, currency.toLowerCase())).toEqual({ amountMinor, currency });
  });

  it('what Stripe cannot express is refused, not rounded', () => {
    expect(() => toStripeAmount(501, 'MGA')).toThrow(ProviderRefusedError);
  });
});

describe('webhooks', () => {
  const event = (change: object = {}, object: object = intent(succeeded)) => ({
    id: 'evt_1',
    object: 'event',
    type: 'payment_intent.succeeded',
    created: 1_700_000_100,
    data: { object },
    ...change,
  });
  const sign = (
    payload: string,
    { at = Date.now(), secret = webhookSecret, scheme = 'v1', algorithm = 'sha256' } = {},
  ) => {
    const t = Math.floor(at / 1_000);
    return `t=${t},${scheme}=${createHmac(algorithm, secret).update(`${t}.${payload}`).digest('hex')}`;
  };
  const signed = (body: unknown, options = {}) => {
    const rawBody = typeof body === 'string' ? body : JSON.stringify(body);
    return { rawBody, headers: { 'stripe-signature': sign(rawBody, options) } };
  };
  const ago = (seconds: number) => ({ at: Date.now() - seconds * 1_000 });

  it('a payment that succeeded names its order, what was received, and Stripe’s own event id', () => {
    expect(provider.verifyWebhook(signed(event()))).toEqual({
      kind: 'captured',
      eventId: 'evt_1',
      orderId,
      providerRef: 'pi_1',
      paymentId: 'pi_1',
      amountMinor: 8_800,
      currency: 'CNY',
      occurredAt: new Date(1_700_000_100_000),
    });
  });

  it('a payment that failed is told as failed, with what was asked for', () => {
    const failed = event({ type: 'payment_intent.payment_failed' }, intent());
    expect(provider.verifyWebhook(signed(failed))).toMatchObject({
      kind: 'failed',
      amountMinor: 8_800,
      orderId,
    });
  });

  const refund = (change: object = {}) => ({
    id: 're_1',
    object: 'refund',
    payment_intent: 'pi_1',
    status: 'failed',
    failure_reason: 'lost_or_stolen_card',
    metadata: { refund_id: refundId },
    ...change,
  });

  it.each(['refund.failed', 'refund.updated'])(
    '%s of a refund of ours that failed names it by our id',
    (type) => {
      expect(provider.verifyWebhook(signed(event({ type }, refund())))).toEqual({
        kind: 'refund_failed',
        eventId: 'evt_1',
        paymentId: 'pi_1',
        refundId,
        refundRef: 're_1',
        reason: 'lost_or_stolen_card',
        occurredAt: new Date(1_700_000_100_000),
      });
    },
  );

  it.each([
    ['a refund that goes on', event({ type: 'refund.updated' }, refund({ status: 'pending' }))],
    ['a refund made by hand at Stripe', event({ type: 'refund.failed' }, refund({ metadata: {} }))],
    ['another type', event({ type: 'charge.refunded' })],
    ['a payment of another shop on the same account', event({}, intent({ ...succeeded, metadata: {} }))],
    ['a payment with an order id that is none', event({}, intent({ metadata: { order_id: "1' OR 1=1" } }))],
  ])('%s means nothing to an order', (_, body) => {
    expect(provider.verifyWebhook(signed(body))).toMatchObject({ kind: 'other', eventId: 'evt_1' });
  });

  it('the signature is the one that Stripe’s own library makes', () => {
    const payload = JSON.stringify(event());
    const header = Stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecret });
    const request = { rawBody: payload, headers: { 'stripe-signature': header } };
    expect(provider.verifyWebhook(request)).toMatchObject({ kind: 'captured' });
  });

  it.each([
    ['of another secret', signed(event(), { secret: 'whsec_of_somebody_else' })],
    ['six minutes old', signed(event(), ago(360))],
    ['six minutes in the future', signed(event(), ago(-360))],
    ['of the old scheme v0 alone', signed(event(), { scheme: 'v0' })],
    ['of a weaker hash', signed(event(), { algorithm: 'sha1' })],
    ['of another body', { ...signed(event()), rawBody: JSON.stringify(event({ id: 'evt_2' })) }],
    ['of a body written anew', { ...signed(event()), rawBody: JSON.stringify(event(), null, 1) }],
  ])('a signature %s is not trusted', (_, request) => {
    expect(provider.verifyWebhook(request)).toBeUndefined();
  });

  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['no time', 'v1=00'],
    ['no number as time', 't=now,v1=00'],
    ['time alone', `t=${Math.floor(Date.now() / 1_000)}`],
    ['two of them', [sign('{}'), sign('{}')]],
  ])('a header with %s is not trusted', (_, header) => {
    const rawBody = JSON.stringify(event());
    expect(provider.verifyWebhook({ rawBody, headers: { 'stripe-signature': header } })).toBeUndefined();
  });

  it('a time moved forward does not make an old signature young: it is part of what is signed', () => {
    const { rawBody, headers } = signed(event(), ago(3_600));
    const header = headers['stripe-signature'].replace(/t=\d+/, `t=${Math.floor(Date.now() / 1_000)}`);
    expect(provider.verifyWebhook({ rawBody, headers: { 'stripe-signature': header } })).toBeUndefined();
    // Nor a second time beside it.
    const both = `${headers['stripe-signature']},t=${Math.floor(Date.now() / 1_000)}`;
    expect(provider.verifyWebhook({ rawBody, headers: { 'stripe-signature': both } })).toBeUndefined();
  });

  it.each([
    ['no JSON', '{'],
    ['no event', '{}'],
    ['null alone', 'null'],
    ['an event id that is none', event({ id: 'evt 1' })],
    ['no event id', event({ id: undefined })],
    ['no type', event({ type: undefined })],
    ['no data', event({ data: undefined })],
    ['no time', event({ created: undefined })],
    ['a time beyond all calendars', event({ created: 1e15 })],
    ['no currency', event({}, intent({ ...succeeded, currency: undefined }))],
    ['a currency that is none', event({}, intent({ ...succeeded, currency: 'money' }))],
    ['nothing received', event({}, intent({ ...succeeded, amount_received: undefined }))],
    ['half a unit received', event({}, intent({ ...succeeded, amount_received: 0.5 }))],
    ['a payment id that is too long', event({}, intent({ ...succeeded, id: 'x'.repeat(129) }))],
  ])('a signed body with %s is a fault that names the field, not passed over', (_, body) => {
    expect(() => provider.verifyWebhook(signed(body))).toThrow(WebhookBodyError);
  });

  it('negative control: signed with the secret and timely, the same requests pass', () => {
    expect(provider.verifyWebhook(signed(event(), ago(290)))).toBeDefined();
    const other = { secretKey, webhookSecret: 'whsec_of_somebody_else', apiUrl: standIn.url, timeoutMs };
    const request = signed(event(), { secret: 'whsec_of_somebody_else' });
    expect(openStripeProvider(other, log).verifyWebhook(request)).toBeDefined();
  });
});

import { problems, problemView } from '@lapse/contracts';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  activityBody,
  openTestApi,
  openTestStores,
  type TestApi,
  type TestStores,
  tokenFor,
} from './test-api.ts';

let stores: TestStores;
let api: TestApi;
let activityId: number;
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
  activityId = (await api.createActivity({ quantityMax: 5 })).id;
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

/** The code of an answer that is a proper problem document, and the fields it names. */
function problemOf(reply: LightMyRequestResponse): { code: string; fields: string[] } {
  expect(reply.headers['content-type']).toContain('application/problem+json');
  const problem = problemView.parse(reply.json());
  expect(problem.status).toBe(reply.statusCode);
  expect(problems[problem.code].status).toBe(reply.statusCode);
  expect(reply.body).not.toMatch(/node_modules|\.ts:|at \w+ \(|mysql|select |ECONN/i);
  return { code: problem.code, fields: problem.errors?.map(({ field }) => field) ?? [] };
}

const order = (body: unknown, headers: Record<string, string> = {}) =>
  api.send({
    method: 'POST',
    url: `/v1/activities/${activityId}/orders`,
    as: 'ann',
    headers: { 'idempotency-key': 'k', ...headers },
    body,
  });

describe('a body that is not right is refused with 400 and names the field', () => {
  it.each([
    [{ quantity: 0 }, ['body.quantity']],
    [{ quantity: 6 }, ['body.quantity']],
    [{ quantity: 101 }, ['body.quantity']],
    [{ quantity: -1 }, ['body.quantity']],
    [{ quantity: 1.5 }, ['body.quantity']],
    [{ quantity: '1' }, ['body.quantity']],
    [{ quantity: null }, ['body.quantity']],
    [{ quantity: [1] }, ['body.quantity']],
    [{ quantity: 1, userId: 'bob' }, ['body.userId']],
    [{ user_id: 'bob', status: 'PAID', amountMinor: 1 }, ['body.user_id', 'body.status', 'body.amountMinor']],
    [[], ['body']],
    ['[]', ['body']],
  ])('order %j', async (body, fields) => {
    const reply = await order(body, { 'content-type': 'application/json' });
    expect(problemOf(reply)).toEqual({ code: 'INVALID_REQUEST', fields });
    expect(await api.orders.findActiveOrder(activityId, 'bob')).toBeUndefined();
  });

  it.each(['{', '{"quantity":1', 'quantity=1', '{"quantity":1,}', '\u0000', '{"__proto__":{"quantity":1}}'])(
    'JSON that is none: %j',
    async (body) => {
      const reply = await order(body, { 'content-type': 'application/json' });
      expect(problemOf(reply)).toEqual({ code: 'INVALID_REQUEST', fields: ['body'] });
    },
  );

  it.each([
    [{ remindAfterMs: '20m' }, ['body.remindAfterMs']],
    [{ payWithinMs: '8m', remindAfterMs: '10m' }, ['body.remindAfterMs']],
    [{ payWithinMs: 'soon' }, ['body.payWithinMs']],
    [{ payWithinMs: true }, ['body.payWithinMs']],
    [{ capacity: 0, priceMinor: -1 }, ['body.capacity', 'body.priceMinor']],
    [{ generation: 9 }, ['body.generation']],
    [{ saleStartsAt: '2026-02-30T00:00:00Z' }, ['body.saleStartsAt']],
  ])('activity with %j (case 15)', async (change, fields) => {
    const reply = await api.send({
      method: 'POST',
      url: '/v1/activities',
      operator: true,
      body: { ...activityBody, ...change },
    });
    expect(problemOf(reply)).toEqual({ code: 'INVALID_REQUEST', fields });
  });

  it('no body at all', async () => {
    expect(problemOf(await order(undefined))).toEqual({ code: 'INVALID_REQUEST', fields: ['body'] });
  });

  it('a thousand unknown fields are answered in a few lines', async () => {
    const body = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, 1]));
    const reply = await order(body);
    expect(problemOf(reply).code).toBe('INVALID_REQUEST');
    expect(reply.body.length).toBeLessThan(3_000);
  });
});

describe('what a person reads tells them what to do', () => {
  const firstFault = (reply: LightMyRequestResponse) => problemView.parse(reply.json()).errors?.[0];
  const anOrder = '/v1/orders/019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001';

  it('an order without an Idempotency-Key: send one', async () => {
    const url = `/v1/activities/${activityId}/orders`;
    const reply = await api.send({ method: 'POST', url, as: 'ann', body: {} });
    expect(firstFault(reply)?.message).toMatch(/^is missing: send an Idempotency-Key header/);
  });

  it('a window beyond the limit: the limit in days', async () => {
    const body = { ...activityBody, payWithinMs: '40d' };
    const reply = await api.send({ method: 'POST', url: '/v1/activities', operator: true, body });
    expect(firstFault(reply)).toEqual({ field: 'body.payWithinMs', message: 'must be at most 30 days' });
    const extend = { byMs: '31d', reason: 'x' };
    const late = await api.send({ method: 'POST', url: `${anOrder}/extend`, operator: true, body: extend });
    expect(firstFault(late)).toEqual({ field: 'body.byMs', message: 'must be at most 30 days' });
  });

  it('a change without a reason: say why', async () => {
    const body = { byMs: '5m' };
    const reply = await api.send({ method: 'POST', url: `${anOrder}/extend`, operator: true, body });
    expect(firstFault(reply)).toEqual({
      field: 'body.reason',
      message: 'must say why, in 1 to 500 characters',
    });
  });

  it('a webhook of no order of ours: what an order id looks like, and nothing else', async () => {
    const event = { type: 'payment.captured', timestamp: '2030-01-01T08:00:00+08:00' };
    const data = { paymentId: 'p', orderId: 'order-1', amountMinor: 1, currency: 'CNY' };
    const reply = await api.pay({ ...event, data });
    expect(reply.statusCode).toBe(400);
    expect(problemView.parse(reply.json()).errors).toEqual([
      { field: 'body.data.orderId', message: expect.stringMatching(/^must be the id of an order/) },
    ]);
  });

  it('a reused key, whatever it was for: a new key for a new request', async () => {
    const ask = (payWithinMs: string) =>
      api.send({
        method: 'POST',
        url: '/v1/activities',
        operator: true,
        headers: { 'idempotency-key': 'reused' },
        body: { ...activityBody, payWithinMs },
      });
    expect((await ask('15m')).statusCode).toBe(201);
    const reply = await ask('16m');
    expect([reply.statusCode, reply.json().detail]).toEqual([422, 'Use a new key for a new request.']);
  });
});

describe('what is around the body', () => {
  it('above 16 KiB: 413', async () => {
    const reply = await order({ padding: 'x'.repeat(17_000) });
    expect(problemOf(reply).code).toBe('BODY_TOO_LARGE');
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'text/xml', 'nonsense'])(
    'of the type %s: 415',
    async (type) => {
      expect(problemOf(await order('{"quantity":1}', { 'content-type': type })).code).toBe(
        'UNSUPPORTED_MEDIA_TYPE',
      );
    },
  );

  it('JSON that names its charset is JSON; a cancel that names JSON and sends nothing is fine', async () => {
    const placed = await order('{"quantity":1}', { 'content-type': 'application/json; charset=utf-8' });
    expect(placed.statusCode).toBe(201);
    const cancelled = await api.send({
      method: 'POST',
      url: `/v1/orders/${placed.json().id}/cancel`,
      as: 'ann',
      headers: { 'content-type': 'application/json' },
    });
    expect(cancelled.statusCode).toBe(200);
  });

  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['too long', 'x'.repeat(129)],
    ['with spaces', 'two words'],
  ])('an Idempotency-Key that is %s: 400 and the header’s name', async (_name, key) => {
    const reply = await api.send({
      method: 'POST',
      url: `/v1/activities/${activityId}/orders`,
      as: 'ann',
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
      body: {},
    });
    expect(problemOf(reply)).toEqual({ code: 'INVALID_REQUEST', fields: ['headers.idempotency-key'] });
  });
});

describe('addresses', () => {
  it.each([
    '0',
    '-1',
    '1e3',
    '0x10',
    '01',
    '1.0',
    '99999999999999999',
    'abc',
    '%27%20OR%201=1',
    '1%00',
    '４２',
  ])('an activity %s is refused, never looked up', async (id) => {
    for (const request of [
      { url: `/v1/activities/${encodeURI(decodeURIComponent(id))}` },
      {
        method: 'POST' as const,
        url: `/v1/activities/${encodeURI(decodeURIComponent(id))}/orders`,
        as: 'ann',
        body: {},
        headers: { 'idempotency-key': 'k' },
      },
    ]) {
      expect(problemOf(await api.send(request))).toEqual({ code: 'INVALID_REQUEST', fields: ['params.id'] });
    }
  });

  it.each([
    'not-a-uuid',
    '00000000-0000-0000-0000-000000000000',
    '6f1c6f0e-3f0a-4d3b-9c59-1d2f6f0a7b11',
    '019AD0C4-8B1E-7C3A-9F00-3B1C52D6A001',
    '..%2f..%2fetc%2fpasswd',
    "'%20OR%201=1%20--",
    '%00',
    '%F0%9F%92%BA',
  ])('an order %s is refused with the field', async (id) => {
    for (const request of [
      { url: `/v1/orders/${id}`, as: 'ann' },
      { url: `/v1/orders/${id}/timeline`, as: 'ann' },
      { method: 'POST' as const, url: `/v1/orders/${id}/cancel`, as: 'ann' },
    ]) {
      expect(problemOf(await api.send(request))).toEqual({ code: 'INVALID_REQUEST', fields: ['params.id'] });
    }
  });

  it.each(['/v1/orders/%zz', `/v1/orders/${'x'.repeat(200)}`])('%s cannot be one', async (url) => {
    expect(problemOf(await api.send({ url, as: 'ann' }))).toEqual({
      code: 'INVALID_REQUEST',
      fields: ['url'],
    });
  });

  it.each([
    '/nothing',
    '/v1',
    '/v1/orders',
    '/v1/activities/1/orders/2',
    '/docs/../etc/passwd',
    '/v1/orders/',
  ])('%s is no address: 404', async (url) => {
    const reply = await api.send({ url, as: 'ann' });
    expect([404, 400, 405]).toContain(reply.statusCode);
    problemOf(reply);
  });

  it.each([
    ['DELETE', '/v1/activities/1', 'GET, HEAD, PATCH'],
    ['DELETE', '/v1/activities', 'GET, HEAD, POST'],
    ['PUT', '/v1/payments/webhook', 'POST'],
    ['GET', '/v1/activities/1/orders', 'POST'],
    ['PATCH', '/v1/orders/019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001', 'GET, HEAD'],
    ['OPTIONS', '/v1/activities', 'GET, HEAD, POST'],
  ] as const)('%s %s is the wrong method: 405 and the right ones', async (method, url, allowed) => {
    const reply = await api.send({ method, url, as: 'ann' });
    expect([problemOf(reply).code, reply.headers.allow]).toEqual(['METHOD_NOT_ALLOWED', allowed]);
  });
});

describe('who may do what', () => {
  const protectedRequests = [
    { method: 'POST', url: '/v1/activities' },
    { method: 'POST', url: '/v1/activities/1/orders' },
    { method: 'GET', url: '/v1/orders/019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001' },
    { method: 'GET', url: '/v1/orders/019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001/timeline' },
    { method: 'POST', url: '/v1/orders/019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001/cancel' },
  ] as const;

  it.each(protectedRequests)(
    '$method $url without a token: 401, before anything is said of the body',
    async (request) => {
      const reply = await api.send({
        ...request,
        body: '{ not json',
        headers: { 'content-type': 'application/json' },
      });
      expect(problemOf(reply)).toEqual({ code: 'UNAUTHENTICATED', fields: [] });
      expect(reply.headers['www-authenticate']).toBe('Bearer realm="lapse"');
    },
  );

  it('with an expired token: 401 that says so', async () => {
    const token = await tokenFor('ann', { expiresIn: '-1m' });
    const reply = await api.send({
      url: '/v1/orders/019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(problemOf(reply).code).toBe('UNAUTHENTICATED');
    expect(reply.headers['www-authenticate']).toContain('error="invalid_token"');
    expect(reply.headers['www-authenticate']).toContain('expired');
  });

  it('opening an activity needs the scope operator: 403 for a buyer', async () => {
    const reply = await api.send({ method: 'POST', url: '/v1/activities', as: 'ann', body: activityBody });
    expect(problemOf(reply).code).toBe('FORBIDDEN');
    expect(reply.headers['www-authenticate']).toContain('insufficient_scope');
  });
});

import { problemView } from '@lapse/contracts';
import { queryDatabase } from '@lapse/testing';
import type { InjectOptions } from 'fastify';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  openTestApi,
  openTestStores,
  paymentEvent,
  signedWebhook,
  type TestApi,
  type TestStores,
} from './test-api.ts';

let stores: TestStores;
let api: TestApi;
let activityId: number;
let buyers = 0;
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
  activityId = (await api.createActivity()).id;
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

const newOrder = async () => {
  buyers += 1;
  return (await api.placeOrder(activityId, `buyer-${buyers}`, 'k')).json();
};
const statusOf = async (id: string) => (await api.orders.readOrder(id))?.status;
const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000);

describe('a payment webhook', () => {
  it('that is signed marks the order as paid, and its places as sold in Redis', async () => {
    const activity = await api.createActivity();
    const order = (await api.placeOrder(activity.id, 'payer', 'k')).json();
    const reply = await api.pay(paymentEvent(order));
    expect([reply.statusCode, reply.json()]).toEqual([200, { outcome: 'paid' }]);
    expect(await statusOf(order.id)).toBe('PAID');
    expect(await api.stock.readCounts(activity.id)).toMatchObject({ stock: 99, held: 0, sold: 1 });
    expect(await queryDatabase(stores.mysqlUrl, 'SELECT * FROM effect')).toEqual([]);
  });

  it('counts once, under the same event id or another', async () => {
    const order = await newOrder();
    const event = paymentEvent(order);
    expect((await api.pay(event, { id: 'evt_same' })).json()).toEqual({ outcome: 'paid' });
    expect((await api.pay(event, { id: 'evt_same' })).json()).toEqual({ outcome: 'duplicate' });
    expect((await api.pay(event, { id: 'evt_other' })).json()).toEqual({ outcome: 'duplicate' });
  });

  it('that contradicts what came before it is answered as quarantined, and is there for a person', async () => {
    const [first, second] = [await newOrder(), await newOrder()];
    await api.pay(paymentEvent(first, { type: 'payment.failed' }), { id: 'evt_reused' });
    const reused = await api.pay(paymentEvent(first), { id: 'evt_reused' });
    expect([reused.statusCode, reused.json()]).toEqual([200, { outcome: 'quarantined' }]);
    const shared = paymentEvent(second, { paymentId: `pay_${first.id}` });
    expect((await api.pay(shared)).json()).toEqual({ outcome: 'quarantined' });
    const rows = await queryDatabase(
      stores.mysqlUrl,
      "SELECT state FROM payment WHERE payment_id = ? AND type = 'payment.captured'",
      [`pay_${first.id}`],
    );
    expect(rows).toEqual([{ state: 'QUARANTINED' }, { state: 'QUARANTINED' }]);
  });

  it.each([
    ['a payment id of half a character, which would become another one', { paymentId: '\ud801x' }],
    ['a payment id of many bytes', { paymentId: '中'.repeat(128) }],
  ])('with %s is refused as not valid, and no capture is lost to it', async (_, change) => {
    const order = await newOrder();
    const event = paymentEvent(order);
    const reply = await api.pay({ ...event, data: { ...event.data, ...change } });
    expect([reply.statusCode, reply.json().code]).toEqual([400, 'INVALID_REQUEST']);
    expect((await api.pay(event)).json()).toEqual({ outcome: 'paid' });
  });

  it('of a failed refund whose reference MySQL has no room for is refused as not valid, not a fault of ours', async () => {
    const data = { paymentId: 'pay_1', refundId: '0198c0de-7000-7000-8000-000000000001' };
    const event = { type: 'payment.refund_failed', timestamp: new Date().toISOString(), data };
    const reply = await api.pay({ ...event, data: { ...data, refundRef: '中'.repeat(255) } });
    expect([reply.statusCode, reply.json().code]).toEqual([400, 'INVALID_REQUEST']);
    expect((await api.pay({ ...event, data: { ...data, refundRef: 're_1' } })).statusCode).toBe(200);
  });

  it('of another amount or currency is set aside, and the order stays unpaid', async () => {
    const order = await newOrder();
    expect((await api.pay(paymentEvent(order, { amountMinor: 1 }))).json()).toEqual({
      outcome: 'quarantined',
    });
    expect(await statusOf(order.id)).toBe('PENDING');
  });

  it('for an order that closed becomes a refund, and the order stays closed', async () => {
    const order = await newOrder();
    await api.send({ method: 'POST', url: `/v1/orders/${order.id}/cancel`, as: `buyer-${buyers}` });
    expect((await api.pay(paymentEvent(order))).json()).toEqual({ outcome: 'refund_pending' });
    expect(await statusOf(order.id)).toBe('CANCELLED');
  });

  it('for an order that is not there (yet) is kept, answered 200, and applied when it comes again (case 7)', async () => {
    const order = { id: '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001', amountMinor: 1, currency: 'CNY' };
    for (const _time of [1, 2]) {
      const reply = await api.pay(paymentEvent(order));
      expect([reply.statusCode, reply.json()]).toEqual([200, { outcome: 'kept' }]);
    }
    expect(await queryDatabase(stores.mysqlUrl, "SELECT type FROM payment WHERE state = 'WAITING'")).toEqual([
      { type: 'payment.captured' },
    ]);
  });

  it('of a type that means nothing to an order is ignored, so that the provider does not send it again', async () => {
    const reply = await api.pay({ type: 'payout.paid', timestamp: 'whenever', data: 7 });
    expect([reply.statusCode, reply.json()]).toEqual([200, { outcome: 'ignored' }]);
  });

  it('that is signed but not valid names the fields', async () => {
    const order = await newOrder();
    const reply = await api.pay({ ...paymentEvent(order), extra: 1, timestamp: 'whenever' });
    expect(reply.statusCode).toBe(400);
    expect(problemView.parse(reply.json()).errors?.map(({ field }) => field)).toEqual([
      'body.timestamp',
      'body.extra',
    ]);
    const broken = await api.app.inject(signedWebhook('{ not json'));
    expect([broken.statusCode, broken.json().errors]).toEqual([
      400,
      [{ field: 'body', message: 'is not valid JSON' }],
    ]);
  });
});

describe('a webhook that cannot be trusted changes nothing (case 9)', () => {
  const refused = async (request: InjectOptions, orderId: string) => {
    const reply = await api.app.inject(request);
    expect([reply.statusCode, reply.json().code]).toEqual([401, 'SIGNATURE_INVALID']);
    expect(reply.headers['www-authenticate']).toBeDefined();
    expect(await statusOf(orderId)).toBe('PENDING');
  };

  it('signed with another secret', async () => {
    const order = await newOrder();
    const secret = `whsec_${Buffer.from('x'.repeat(32)).toString('base64')}`;
    await refused(signedWebhook(JSON.stringify(paymentEvent(order)), { secret }), order.id);
  });

  it.each([-6, 6])('signed %d minutes from now; five are tolerated', async (minutes) => {
    const order = await newOrder();
    const body = JSON.stringify(paymentEvent(order));
    await refused(signedWebhook(body, { at: minutesFromNow(minutes) }), order.id);
    const inTime = await api.app.inject(
      signedWebhook(body, { at: minutesFromNow(Math.sign(minutes) * 4.9) }),
    );
    expect(inTime.json()).toEqual({ outcome: 'paid' });
  });

  it('with a body that was changed after it was signed, even in white space alone', async () => {
    const order = await newOrder();
    const request = signedWebhook(JSON.stringify(paymentEvent(order)));
    await refused({ ...request, payload: request.payload.replace('{', '{ ') }, order.id);
  });

  it('with a broken body and no signature: nothing is said about the body', async () => {
    const order = await newOrder();
    const request = signedWebhook('{ not json');
    await refused({ ...request, headers: { 'content-type': 'application/json' } }, order.id);
  });

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('without %s', async (name) => {
    const order = await newOrder();
    const request = signedWebhook(JSON.stringify(paymentEvent(order)));
    const headers: Record<string, string> = { ...request.headers };
    delete headers[name];
    await refused({ ...request, headers }, order.id);
  });

  it.each([
    ['another id', { 'webhook-id': 'evt_forged' }],
    ['an id with a space', { 'webhook-id': 'evt 1' }],
    ['an id that is too long', { 'webhook-id': 'x'.repeat(129) }],
    ['a time that is no number', { 'webhook-timestamp': 'now' }],
    ['a time with a tail', { 'webhook-timestamp': '1764000000x' }],
    ['another version of signature', { 'webhook-signature': 'v2,AAAA' }],
    ['a signature without a value', { 'webhook-signature': 'v1' }],
    ['an empty signature', { 'webhook-signature': 'v1,' }],
  ])('with %s', async (_name, change) => {
    const order = await newOrder();
    const request = signedWebhook(JSON.stringify(paymentEvent(order)));
    await refused({ ...request, headers: { ...request.headers, ...change } }, order.id);
  });

  it('negative control: where nobody looks at the signature, the same forged request is taken', async () => {
    const secret = `whsec_${Buffer.from('x'.repeat(32)).toString('base64')}`;
    const order = await newOrder();
    const forged = signedWebhook(JSON.stringify(paymentEvent(order)), { secret });
    await refused(forged, order.id);
    const look = vi.spyOn(Webhook.prototype, 'verify').mockReturnValue(undefined);
    try {
      expect((await api.app.inject(forged)).json()).toEqual({ outcome: 'paid' });
    } finally {
      look.mockRestore();
    }
  });
});

import { orderPaymentView } from '@lapse/contracts';
import { type PaymentProvider, ProviderRefusedError, ProviderUnavailableError } from '@lapse/payments';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestApi, openTestStores, paymentEvent, type TestApi, type TestStores } from './test-api.ts';

let stores: TestStores;
let api: TestApi;
let activityId: number;
let buyers = 0;
/** What the provider does when asked to begin a payment. */
let begin: PaymentProvider['createAttempt'];
const asked: string[] = [];

const provider: PaymentProvider = {
  name: 'stand-in',
  createAttempt: (request) => begin(request),
  cancelAttempt: async () => ({ kind: 'cancelled' }),
  refund: async () => ({ kind: 'refunded', refundRef: 'r' }),
  verifyWebhook: () => undefined,
  close: async () => undefined,
};

beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores, { provider });
  activityId = (await api.createActivity()).id;
});
beforeEach(() => {
  begin = async ({ attemptId }) => {
    asked.push(attemptId);
    return { providerRef: `ref-${attemptId}`, payUrl: 'https://pay.example/1', clientSecret: null };
  };
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

const newOrder = async () => {
  buyers += 1;
  const buyer = `payer-${buyers}`;
  return { buyer, order: (await api.placeOrder(activityId, buyer, 'k')).json() };
};
const pay = (orderId: string, buyer: string) =>
  api.send({ method: 'POST', url: `/v1/orders/${orderId}/payments`, as: buyer });

describe('an activity without a price', () => {
  const open = (on: TestApi, key: string) =>
    on.send({
      method: 'POST',
      url: '/v1/activities',
      operator: true,
      headers: { 'idempotency-key': key },
      body: { name: 'Free', capacity: 1, priceMinor: 0, currency: 'CNY' },
    });

  it('is refused where a provider is set up: none takes a payment of nothing, and every order would close', async () => {
    const reply = await open(api, 'free-1');
    expect([reply.statusCode, reply.json().code]).toEqual([400, 'INVALID_REQUEST']);
    expect(reply.json().errors).toEqual([
      { field: 'body.priceMinor', message: expect.stringContaining('must be above 0') },
    ]);
  });

  it('is opened where the shop starts payments itself, and its orders are paid by a capture of nothing', async () => {
    const none = await openTestApi(stores);
    try {
      const { id } = (await open(none, 'free-2')).json();
      const order = (await none.placeOrder(id, 'guest', 'k')).json();
      expect((await none.pay(paymentEvent(order))).json()).toEqual({ outcome: 'paid' });
    } finally {
      await none.close();
    }
  });
});

describe('beginning to pay', () => {
  it('answers where, and the same attempt to every repeat, also at once', async () => {
    const { buyer, order } = await newOrder();
    const replies = await Promise.all([1, 2, 3].map(() => pay(order.id, buyer)));
    const again = await pay(order.id, buyer);
    for (const reply of [...replies, again]) expect(reply.statusCode).toBe(201);
    const views = [...replies, again].map((reply) => orderPaymentView.parse(reply.json()));
    expect(new Set(views.map(({ attemptId }) => attemptId)).size).toBe(1);
    expect(views[0]).toMatchObject({
      orderId: order.id,
      amountMinor: order.amountMinor,
      currency: 'CNY',
      expiresAt: order.expiresAt,
      payUrl: 'https://pay.example/1',
      clientSecret: null,
    });
  });

  it('of another buyer’s order is not found, of one that has ended refused', async () => {
    const { buyer, order } = await newOrder();
    const other = await pay(order.id, 'somebody-else');
    expect([other.statusCode, other.json().code]).toEqual([404, 'ORDER_NOT_FOUND']);
    await api.send({ method: 'POST', url: `/v1/orders/${order.id}/cancel`, as: buyer });
    const ended = await pay(order.id, buyer);
    expect([ended.statusCode, ended.json().code]).toEqual([409, 'ORDER_NOT_PENDING']);
    expect((await api.send({ method: 'POST', url: `/v1/orders/${order.id}/payments` })).statusCode).toBe(401);
  });

  it('with the provider away is 503, and the repeat goes on with the same attempt', async () => {
    const { buyer, order } = await newOrder();
    const works = begin;
    begin = async ({ attemptId }) => {
      asked.push(attemptId);
      throw new ProviderUnavailableError('away');
    };
    const away = await pay(order.id, buyer);
    expect([away.statusCode, away.json().code, away.headers['retry-after']]).toEqual([
      503,
      'PAYMENT_UNAVAILABLE',
      '1',
    ]);
    const first = asked.at(-1);
    begin = works;
    const reply = await pay(order.id, buyer);
    expect([reply.statusCode, reply.json().attemptId]).toEqual([201, first]);
  });

  it('that the provider refuses for good is 422, and another try is another attempt', async () => {
    const { buyer, order } = await newOrder();
    const works = begin;
    begin = () => Promise.reject(new ProviderRefusedError('amount too small'));
    const refused = await pay(order.id, buyer);
    expect([refused.statusCode, refused.json().code]).toEqual([422, 'PAYMENT_REFUSED']);
    expect(refused.body).not.toContain('too small');
    begin = works;
    expect((await pay(order.id, buyer)).statusCode).toBe(201);
    const timeline = await api.orders.readTimeline(order.id);
    expect(timeline?.attempts.map(({ state }) => state)).toEqual(['FAILED', 'OPEN']);
  });

  it('that another process has opened meanwhile is not ended by a stray refusal: the repeat gets it', async () => {
    const { buyer, order } = await newOrder();
    const works = begin;
    begin = async () => {
      // The same attempt, begun by the other process and answered before this one's refusal.
      begin = works;
      expect((await pay(order.id, buyer)).statusCode).toBe(201);
      throw new ProviderRefusedError('404 of a proxy');
    };
    const refused = await pay(order.id, buyer);
    expect([refused.statusCode, refused.json().code]).toEqual([503, 'PAYMENT_UNAVAILABLE']);
    const timeline = await api.orders.readTimeline(order.id);
    expect(timeline?.attempts.map(({ state }) => state)).toEqual(['OPEN']);
    const again = await pay(order.id, buyer);
    expect([again.statusCode, again.json().attemptId]).toEqual([201, timeline?.attempts[0]?.id]);
  });

  it('holds up the buyer’s cancel and the operator’s until the provider has been asked, and the timeline shows both', async () => {
    const { buyer, order } = await newOrder();
    const { attemptId } = (await pay(order.id, buyer)).json();
    const cancelled = (id: string) => ({ method: 'POST', url: `/v1/orders/${id}/cancel` }) as const;
    const cancel = () => api.send({ ...cancelled(order.id), as: buyer });
    const held = await cancel();
    expect([held.statusCode, held.json().code, held.headers['retry-after']]).toEqual([
      409,
      'PAYMENT_IN_PROGRESS',
      '1',
    ]);
    const byOperator = { ...cancelled(order.id), operator: true, body: { reason: 'the show is moved' } };
    expect((await api.send(byOperator)).json().code).toBe('PAYMENT_IN_PROGRESS');
    const tried = { ...byOperator, body: { ...byOperator.body, dryRun: true } };
    expect((await api.send(tried)).json().code).toBe('PAYMENT_IN_PROGRESS');
    expect((await pay(order.id, buyer)).json().code).toBe('PAYMENT_IN_PROGRESS');
    await api.orders.endAttempt(attemptId, 'CANCELLED');
    expect((await cancel()).statusCode).toBe(200);
    const timeline = await api.send({ url: `/v1/orders/${order.id}/timeline`, as: buyer });
    const words = timeline.json().events.map(({ what }: { what: string }) => what);
    expect(words).toEqual(
      expect.arrayContaining([expect.stringContaining('being paid: open at the provider')]),
    );
    expect(words).toEqual(
      expect.arrayContaining([expect.stringContaining('payment cancelled at the provider')]),
    );
  });

  it('without a provider is 503: the shop starts payments itself', async () => {
    const none = await openTestApi(stores);
    try {
      const { buyer, order } = await newOrder();
      const reply = await none.send({ method: 'POST', url: `/v1/orders/${order.id}/payments`, as: buyer });
      expect([reply.statusCode, reply.json().code]).toEqual([503, 'PAYMENT_UNAVAILABLE']);
    } finally {
      await none.close();
    }
  });
});

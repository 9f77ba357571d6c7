import { activityList, activityView, orderView } from '@lapse/contracts';
import { applyEffects } from '@lapse/order-flow';
import { queryDatabase } from '@lapse/testing';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestHash } from '../src/request-hash.ts';
import {
  activityBody,
  log,
  openTestApi,
  openTestStores,
  paymentEvent,
  type TestApi,
  type TestStores,
} from './test-api.ts';

let stores: TestStores;
let api: TestApi;
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

const asOperator = (method: 'POST' | 'PATCH', url: string, body: object, key?: string) =>
  api.send({
    method,
    url,
    operator: true,
    as: 'boss',
    body,
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  });
const extend = (id: string, body: object, key?: string) =>
  asOperator('POST', `/v1/orders/${id}/extend`, { reason: 'the bank was slow', ...body }, key);
const actionsOn = (target: string) =>
  queryDatabase(stores.mysqlUrl, 'SELECT action FROM operator_action WHERE target = ?', [target]);
const setCapacity = (id: number, capacity: number, key?: string) =>
  asOperator('PATCH', `/v1/activities/${id}`, { capacity, reason: 'another hall' }, key);

describe('extending an order', () => {
  it('answers the order with its new times, relays the message that arms them, and notes who and why', async () => {
    const activity = await api.createActivity();
    const order = (await api.placeOrder(activity.id, 'ann', 'k')).json();
    const reply = await extend(order.id, { byMs: '5m' });
    expect(reply.statusCode, reply.body).toBe(200);
    const extended = orderView.parse(reply.json());
    expect(Date.parse(extended.expiresAt) - Date.parse(order.expiresAt)).toBe(300_000);
    expect(Date.parse(extended.remindAt) - Date.parse(order.remindAt)).toBe(300_000);
    expect(api.relayed.at(-1)).toMatchObject({
      phase: 1,
      orders: [{ orderId: order.id, dueTime: Date.parse(extended.remindAt) }],
    });
    const [action] = await queryDatabase(stores.mysqlUrl, 'SELECT * FROM operator_action WHERE target = ?', [
      order.id,
    ]);
    expect([String(action?.actor), action?.reason]).toEqual(['boss', 'the bank was slow']);
  });

  it('keeps the first answer for the repeat of the create, byte for byte', async () => {
    const activity = await api.createActivity();
    const first = await api.placeOrder(activity.id, 'ben', 'k');
    await extend(first.json().id, { byMs: 60_000 });
    const again = await api.placeOrder(activity.id, 'ben', 'k');
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.rawPayload.equals(first.rawPayload)).toBe(true);
    const now = (await api.send({ url: `/v1/orders/${first.json().id}`, as: 'ben' })).json();
    expect(Date.parse(now.expiresAt) - Date.parse(first.json().expiresAt)).toBe(60_000);
  });

  it('is refused with the numbers: not later, beyond 30 days, not pending, not there', async () => {
    const activity = await api.createActivity();
    const order = (await api.placeOrder(activity.id, 'cat', 'k')).json();
    const earlier = await extend(order.id, { until: order.createdAt });
    expect(earlier.json()).toMatchObject({ code: 'DEADLINE_NOT_LATER', expiresAt: order.expiresAt });
    const late = await extend(order.id, { byMs: '30d' });
    expect(late.json()).toMatchObject({
      code: 'DEADLINE_TOO_LATE',
      latestExpiresAt: new Date(Date.parse(order.createdAt) + 30 * 86_400_000).toISOString(),
    });
    await api.send({ method: 'POST', url: `/v1/orders/${order.id}/cancel`, as: 'cat' });
    expect((await extend(order.id, { byMs: 1_000 })).json().code).toBe('ORDER_NOT_PENDING');
    expect((await extend(v7(), { byMs: 1_000 })).json().code).toBe('ORDER_NOT_FOUND');
  });

  it('in a dry run changes nothing, notes nothing, and is refused for the same reasons', async () => {
    const activity = await api.createActivity();
    const order = (await api.placeOrder(activity.id, 'dry', 'k')).json();
    const dry = await extend(order.id, { byMs: '5m', dryRun: true }, 'dry-1');
    expect([dry.statusCode, dry.json()]).toEqual([200, order]);
    expect((await extend(order.id, { byMs: '30d', dryRun: true })).json().code).toBe('DEADLINE_TOO_LATE');
    expect((await extend(order.id, { until: order.createdAt, dryRun: true })).json().code).toBe(
      'DEADLINE_NOT_LATER',
    );
    expect(await actionsOn(order.id)).toEqual([]);
    // The dry run has used up no key; without it the deadline moves.
    const done = await extend(order.id, { byMs: '5m' }, 'dry-1');
    expect(Date.parse(done.json().expiresAt) - Date.parse(order.expiresAt)).toBe(300_000);
    expect(await actionsOn(order.id)).toHaveLength(1);
    await api.send({ method: 'POST', url: `/v1/orders/${order.id}/cancel`, as: 'dry' });
    expect((await extend(order.id, { byMs: '5m', dryRun: true })).json().code).toBe('ORDER_NOT_PENDING');
  });

  it.each([
    [{ reason: 'x' }, 'body.byMs'],
    [{ reason: 'x', byMs: 1_000, until: '2030-01-01T00:00:00Z' }, 'body.byMs'],
    [{ reason: 'x', byMs: -1 }, 'body.byMs'],
    [{ byMs: 1_000, reason: ' ' }, 'body.reason'],
    [{ byMs: 1_000, reason: 'x\u0000y' }, 'body.reason'],
    [{ byMs: 1_000, reason: 'x', actor: 'somebody else' }, 'body.actor'],
  ])('%j is not valid: %s', async (body, field) => {
    const reply = await asOperator('POST', `/v1/orders/${v7()}/extend`, body);
    expect([reply.statusCode, reply.json().errors?.[0]?.field]).toEqual([400, field]);
  });

  it('is for operators alone: not for the buyer of the order', async () => {
    const activity = await api.createActivity();
    const order = (await api.placeOrder(activity.id, 'dan', 'k')).json();
    const body = { byMs: 1_000, reason: 'I want it' };
    const reply = await api.send({ method: 'POST', url: `/v1/orders/${order.id}/extend`, as: 'dan', body });
    expect(reply.json().code).toBe('FORBIDDEN');
  });
});

describe('an operator who cancels an order', () => {
  const cancel = (id: string, body: object, key?: string) =>
    asOperator('POST', `/v1/orders/${id}/cancel`, body, key);
  const because = { reason: 'the show is moved' };

  it('cancels any buyer’s: its places are back in both stores at once, and the timeline says who and why', async () => {
    const activity = await api.createActivity({ capacity: 3 });
    const order = (await api.placeOrder(activity.id, 'eve', 'k')).json();
    const reply = await cancel(order.id, because);
    expect([reply.statusCode, orderView.parse(reply.json()).status]).toEqual([200, 'CANCELLED']);
    expect(await api.stock.readCounts(activity.id)).toMatchObject({ stock: 3, held: 0, users: 0 });
    const read = async (as: string, operator: boolean) => {
      const timeline = await api.send({ url: `/v1/orders/${order.id}/timeline`, as, operator });
      return timeline.json().events as { what: string; detail: object }[];
    };
    const seen = await read('boss', true);
    expect(seen.map(({ what }) => what)).toContain('cancelled, places given back (by an operator)');
    expect(seen.find(({ what }) => what === 'cancelled by an operator')?.detail).toEqual({
      action: 'order.cancel',
      operator: 'boss',
      reason: 'the show is moved',
    });
    // The buyer sees what was done, not by whom.
    expect(JSON.stringify(await read('eve', false))).not.toContain('boss');
  });

  it('in a dry run changes nothing; a buyer has none, so that nobody takes a cancel for one', async () => {
    const activity = await api.createActivity();
    const order = (await api.placeOrder(activity.id, 'eva', 'k')).json();
    const dry = await cancel(order.id, { ...because, dryRun: true });
    expect([dry.statusCode, dry.json()]).toEqual([200, order]);
    const body = { dryRun: true };
    const own = await api.send({ method: 'POST', url: `/v1/orders/${order.id}/cancel`, as: 'eva', body });
    expect([own.statusCode, own.json().errors?.[0]?.field]).toEqual([400, 'body.dryRun']);
    expect((await api.orders.readOrder(order.id))?.status).toBe('PENDING');
    expect(await actionsOn(order.id)).toEqual([]);
    expect((await cancel(v7(), { ...because, dryRun: true })).json().code).toBe('ORDER_NOT_FOUND');
    await api.pay(paymentEvent(order));
    expect((await cancel(order.id, { ...because, dryRun: true })).json().code).toBe('ORDER_NOT_PENDING');
  });

  it('gets the first answer again for the same key, and 422 for another order with it', async () => {
    const activity = await api.createActivity();
    const order = (await api.placeOrder(activity.id, 'flo', 'k')).json();
    const other = (await api.placeOrder(activity.id, 'gil', 'k')).json();
    const first = await cancel(order.id, because, 'cancel-1');
    const again = await cancel(order.id, because, 'cancel-1');
    expect([again.statusCode, again.headers['idempotent-replayed']]).toEqual([200, 'true']);
    expect(again.rawPayload.equals(first.rawPayload)).toBe(true);
    expect((await cancel(other.id, because, 'cancel-1')).json().code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect((await api.orders.readOrder(other.id))?.status).toBe('PENDING');
  });

  it('must say why, and a buyer need not', async () => {
    const activity = await api.createActivity();
    const order = (await api.placeOrder(activity.id, 'hew', 'k')).json();
    for (const body of [undefined, {}, { reason: ' ' }]) {
      const request = { method: 'POST', url: `/v1/orders/${order.id}/cancel`, operator: true, body } as const;
      const reply = await api.send(request);
      expect([reply.statusCode, reply.json().errors?.[0]?.field]).toEqual([400, 'body.reason']);
    }
    expect((await api.orders.readOrder(order.id))?.status).toBe('PENDING');
    const own = await api.send({ method: 'POST', url: `/v1/orders/${order.id}/cancel`, as: 'hew' });
    expect(own.statusCode).toBe(200);
    // Cancelled before: answered as it is.
    expect([(await cancel(order.id, because)).json().status]).toEqual(['CANCELLED']);
  });

  it('loses to a payment, and is told so; of an order that is not there too', async () => {
    const activity = await api.createActivity();
    const order = (await api.placeOrder(activity.id, 'ian', 'k')).json();
    await api.pay(paymentEvent(order));
    const reply = await cancel(order.id, because);
    expect([reply.statusCode, reply.json().code]).toEqual([409, 'ORDER_NOT_PENDING']);
    expect((await api.orders.readOrder(order.id))?.status).toBe('PAID');
    expect((await cancel(v7(), because)).json().code).toBe('ORDER_NOT_FOUND');
  });
});

describe('changing the capacity of an activity', () => {
  it('answers the activity with its new numbers, and readers see it at once', async () => {
    const activity = await api.createActivity({ capacity: 10 });
    await api.placeOrder(activity.id, 'kay', 'k');
    const reply = await setCapacity(activity.id, 20);
    expect(reply.statusCode, reply.body).toBe(200);
    expect(activityView.parse(reply.json())).toMatchObject({ capacity: 20, available: 19 });
    expect((await api.send({ url: `/v1/activities/${activity.id}` })).json().capacity).toBe(20);
  });

  it('is followed by Redis at once, up and down, and owes it nothing then', async () => {
    const activity = await api.createActivity({ capacity: 10 });
    await api.placeOrder(activity.id, 'max', 'k');
    for (const capacity of [20, 3]) {
      await setCapacity(activity.id, capacity);
      expect(await api.stock.readCounts(activity.id)).toMatchObject({ stock: capacity - 1, held: 1 });
    }
    const left = await api.orders.listPendingEffects({ olderThanMs: 0, limit: 10 });
    expect(left.filter(({ activityId }) => activityId === activity.id)).toEqual([]);
  });

  it('goes up and down while buyers create: no oversell, and both stores agree at rest (I1, I2)', async () => {
    const activity = await api.createActivity({ capacity: 30 });
    let selling = true;
    const changing = (async () => {
      const statuses: number[] = [];
      for (let round = 0; selling; round += 1) {
        const reply = await setCapacity(activity.id, round % 2 === 0 ? 20 + round : 50 + round);
        statuses.push(reply.statusCode);
      }
      return statuses;
    })();
    const codes = new Map<string, number>();
    for (let wave = 0; wave < 10; wave += 1) {
      const buyers = Array.from({ length: 12 }, (_, index) => `wave-${wave}-${index}`);
      const replies = await Promise.all(buyers.map((name) => api.placeOrder(activity.id, name, 'k')));
      for (const reply of replies) {
        const code = reply.json().code ?? 'created';
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }
    }
    selling = false;
    const statuses = await changing;
    for (const code of codes.keys()) expect(['created', 'SOLD_OUT']).toContain(code);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(1);
    // What Redis could not follow at once waits as an effect.
    await expect
      .poll(async () => {
        const left = await api.orders.listPendingEffects({ olderThanMs: 0, limit: 100 });
        await applyEffects({ stock: api.stock, orders: api.orders, log }, left);
        return left.length;
      })
      .toBe(0);
    const now = await api.orders.readActivity(activity.id);
    const counts = await api.stock.readCounts(activity.id);
    expect(counts).toMatchObject({ stock: now?.available, held: codes.get('created') });
    expect((now?.capacity ?? 0) - (now?.available ?? 0)).toBe(codes.get('created'));
  });

  it('below what is held and sold is refused with both numbers', async () => {
    const activity = await api.createActivity({ capacity: 10, quantityMax: 5 });
    await api.placeOrder(activity.id, 'lou', 'k', { quantity: 4 });
    const reply = await setCapacity(activity.id, 3);
    expect([reply.statusCode, reply.json()]).toEqual([
      409,
      expect.objectContaining({ code: 'CAPACITY_BELOW_SOLD', capacity: 10, taken: 4 }),
    ]);
    expect((await setCapacity(activity.id, 4)).statusCode).toBe(200);
  });

  it('of no activity is not found; a buyer may not', async () => {
    expect((await setCapacity(999_999, 4)).json().code).toBe('ACTIVITY_NOT_FOUND');
    const body = { capacity: 5, reason: 'x' };
    const reply = await api.send({ method: 'PATCH', url: '/v1/activities/1', as: 'ann', body });
    expect(reply.json().code).toBe('FORBIDDEN');
  });
});

describe("an operator's Idempotency-Key", () => {
  const create = (key?: string, change: object = {}) =>
    asOperator('POST', '/v1/activities', { ...activityBody, ...change }, key);

  it('makes one activity of many requests: every answer is the first, byte for byte', async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => create('show-1')));
    const again = await create('show-1');
    for (const reply of [...replies, again]) {
      expect(reply.statusCode).toBe(201);
      expect(reply.rawPayload.equals(again.rawPayload)).toBe(true);
      expect(reply.headers.location).toBe(`/v1/activities/${again.json().id}`);
      expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    }
    const firsts = replies.filter(({ headers }) => headers['idempotent-replayed'] === undefined);
    expect(firsts).toHaveLength(1);
  });

  it('negative control: without the key each request makes an activity of its own', async () => {
    const replies = await Promise.all([create(), create(), create()]);
    expect(new Set(replies.map((reply) => reply.json().id)).size).toBe(3);
  });

  it('still answers as at first when the activity has changed since', async () => {
    const first = await create('show-2');
    await setCapacity(first.json().id, 7);
    expect((await create('show-2')).rawPayload.equals(first.rawPayload)).toBe(true);
  });

  it.each([
    ['create', (key: string, n: number) => create(key, { capacity: n })],
    ['capacity', (key: string, n: number) => setCapacity(1, 1_000 + n, key)],
  ])('with another body is 422: %s', async (name, ask) => {
    expect((await ask(`reuse-${name}`, 1)).statusCode).toBeLessThan(300);
    const reply = await ask(`reuse-${name}`, 2);
    expect([reply.statusCode, reply.json().code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('covers the extend and the capacity: a repeat changes nothing again', async () => {
    const activity = await api.createActivity();
    const order = (await api.placeOrder(activity.id, 'zoe', 'k')).json();
    const first = await extend(order.id, { byMs: 10_000 }, 'extend-1');
    const second = await extend(order.id, { byMs: 10_000 }, 'extend-1');
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.rawPayload.equals(first.rawPayload)).toBe(true);
    // The same key at another address is another request.
    expect((await extend(v7(), { byMs: 10_000 }, 'extend-1')).json().code).toBe('IDEMPOTENCY_KEY_REUSED');
    await setCapacity(activity.id, 50, 'capacity-1');
    await setCapacity(activity.id, 60);
    expect((await setCapacity(activity.id, 50, 'capacity-1')).json().capacity).toBe(50);
    expect((await api.orders.readActivity(activity.id))?.capacity).toBe(60);
  });
});

describe('the list of activities', () => {
  it('needs no token, and its pages together are all of them, by number', async () => {
    for (let count = 0; count < 5; count += 1) await api.createActivity();
    const ids: number[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const reply = await api.send({ url: `/v1/activities?after=${after}&limit=2` });
      const page = activityList.parse(reply.json());
      expect(page.activities.length).toBeLessThanOrEqual(2);
      ids.push(...page.activities.map(({ id }) => id));
      after = page.next;
    }
    const rows = await queryDatabase(stores.mysqlUrl, 'SELECT id FROM activity ORDER BY id');
    expect(ids).toEqual(rows.map(({ id }) => id));
  });

  it.each(['limit=0', 'limit=101', 'after=-1', 'after=1e3', 'limit=1&limit=2', 'x=1', 'after[$gt]=0'])(
    '%s is not valid',
    async (query) => {
      const reply = await api.send({ url: `/v1/activities?${query}` });
      expect([reply.statusCode, reply.json().code]).toEqual([400, 'INVALID_REQUEST']);
    },
  );
});

describe("a buyer's request that died half way", () => {
  it('after the commit and before the answer: the repeat gets the answer that was never sent', async () => {
    const activity = await api.createActivity();
    const model = await api.placeOrder(activity.id, 'model', 'k');
    const createdAt = new Date(api.orders.now());
    const order = {
      id: v7(),
      activityId: activity.id,
      generation: 1,
      userId: 'fay',
      quantity: 1,
      amountMinor: activity.priceMinor,
      currency: activity.currency,
      locale: 'en',
      createdAt,
      remindAt: new Date(createdAt.getTime() + activity.remindAfterMs),
      expiresAt: new Date(createdAt.getTime() + activity.payWithinMs),
      idempotencyKey: 'k',
      requestHash: requestHash(activity.id, { quantity: 1 }),
    };
    const { stockRunId = null } = (await api.orders.readActivity(activity.id)) ?? {};
    await api.stock.reserve({ ...order, stockRunId, orderId: order.id });
    await api.orders.createOrders([order]);
    const reply = await api.placeOrder(activity.id, 'fay', 'k');
    expect([reply.statusCode, reply.headers['idempotent-replayed']]).toEqual([201, 'true']);
    expect(Object.keys(reply.json())).toEqual(Object.keys(model.json()));
    expect(reply.json()).toMatchObject({ id: order.id, createdAt: createdAt.toISOString() });
    const again = await api.placeOrder(activity.id, 'fay', 'k');
    expect(again.rawPayload.equals(reply.rawPayload)).toBe(true);
  });

  it('after the hold and before the order: 503 until the hold is given back, then one order', async () => {
    const activity = await api.createActivity();
    const orphan = { activityId: activity.id, orderId: v7(), userId: 'gus', quantity: 1, generation: 1 };
    const { stockRunId = null } = (await api.orders.readActivity(activity.id)) ?? {};
    await api.stock.reserve({ ...orphan, stockRunId });
    const refused = await api.placeOrder(activity.id, 'gus', 'k');
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1']);
    const { fenced } = await api.orders.fenceOrphans([orphan]);
    await api.stock.release(activity.id, fenced);
    const placed = await api.placeOrder(activity.id, 'gus', 'k');
    expect(placed.statusCode).toBe(201);
    expect((await api.placeOrder(activity.id, 'gus', 'k')).rawPayload.equals(placed.rawPayload)).toBe(true);
    expect(await api.stock.readCounts(activity.id)).toMatchObject({ held: 1, stock: activity.capacity - 1 });
  });

  it('more than 24 hours ago: once the key has expired it makes a new order', async () => {
    const activity = await api.createActivity();
    const first = (await api.placeOrder(activity.id, 'hal', 'k')).json();
    await api.send({ method: 'POST', url: `/v1/orders/${first.id}/cancel`, as: 'hal' });
    expect((await api.placeOrder(activity.id, 'hal', 'k')).json().id).toBe(first.id);
    await queryDatabase(
      stores.mysqlUrl,
      'UPDATE orders SET created_at = created_at - INTERVAL 25 HOUR WHERE activity_id <= ?',
      [activity.id],
    );
    while (!(await api.orders.expireKeys({ limit: 100 })).drained);
    const again = await api.placeOrder(activity.id, 'hal', 'k');
    expect([again.statusCode, again.headers['idempotent-replayed']]).toEqual([201, undefined]);
    expect(again.json().id).not.toBe(first.id);
  });
});

import { problemView } from '@lapse/contracts';
import { queryDatabase } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openTestApi, openTestStores, type TestApi, type TestStores } from './test-api.ts';

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

/** As the sweeper does it: the next generation, from MySQL. */
const reload = (activityId: number) =>
  api.orders.rebuildSnapshot(activityId, async ({ available, ...snapshot }) =>
    api.stock.load({ ...snapshot, stock: available }, await api.stock.readLoadToken(activityId)),
  );

const countsOf = async (activityId: number) => {
  const [row] = await queryDatabase(stores.mysqlUrl, 'SELECT available FROM activity WHERE id = ?', [
    activityId,
  ]);
  return { mysql: Number(row?.available), redis: (await api.stock.readCounts(activityId))?.stock };
};

describe('placing an order', () => {
  it('answers 201 with the order, its three times and its address, and takes the place in both stores', async () => {
    const activity = await api.createActivity({
      capacity: 5,
      quantityMax: 3,
      payWithinMs: '15m',
      remindAfterMs: '10m',
    });
    const before = api.orders.now();
    const reply = await api.placeOrder(activity.id, 'ann', 'key-1', { quantity: 3 });
    expect(reply.statusCode).toBe(201);
    const order = reply.json();
    expect(order).toMatchObject({
      activityId: activity.id,
      quantity: 3,
      amountMinor: 15_000,
      currency: 'CNY',
      status: 'PENDING',
      remindedAt: null,
      paidAt: null,
      closedAt: null,
    });
    const created = Date.parse(order.createdAt);
    expect(created).toBeGreaterThanOrEqual(before - 1);
    expect(Date.parse(order.remindAt) - created).toBe(600_000);
    expect(Date.parse(order.expiresAt) - created).toBe(900_000);
    expect(reply.headers.location).toBe(`/v1/orders/${order.id}`);
    expect(await countsOf(activity.id)).toEqual({ mysql: 2, redis: 2 });
  });

  it('hands over one outbox row of phase 1 with the buyer, the activity and the due time', async () => {
    const activity = await api.createActivity();
    api.relayed.length = 0;
    const order = (await api.placeOrder(activity.id, 'ann', 'key-outbox')).json();
    expect(api.relayed).toHaveLength(1);
    expect(api.relayed[0]).toMatchObject({
      phase: 1,
      orders: [
        {
          orderId: order.id,
          activityId: activity.id,
          userId: 'ann',
          createTime: Date.parse(order.createdAt),
          dueTime: Date.parse(order.remindAt),
        },
      ],
    });
  });

  it('gives the first answer again to the same key and body, whatever became of the order', async () => {
    const activity = await api.createActivity({ capacity: 1 });
    const first = await api.placeOrder(activity.id, 'ben', 'key-replay', { quantity: 1 });
    const again = await api.placeOrder(activity.id, 'ben', 'key-replay', {});
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(again.statusCode).toBe(201);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body).toBe(first.body);
    expect(again.headers.location).toBe(first.headers.location);

    await api.send({ method: 'POST', url: `/v1/orders/${first.json().id}/cancel`, as: 'ben' });
    const afterCancel = await api.placeOrder(activity.id, 'ben', 'key-replay');
    expect([afterCancel.statusCode, afterCancel.body]).toEqual([201, first.body]);
    expect(await countsOf(activity.id)).toEqual({ mysql: 1, redis: 1 });

    // Sold out to somebody else meanwhile: the repeat still gets its own first answer.
    expect((await api.placeOrder(activity.id, 'bob', 'key-bob')).statusCode).toBe(201);
    const soldOut = await api.placeOrder(activity.id, 'ben', 'key-replay');
    expect([soldOut.statusCode, soldOut.body]).toEqual([201, first.body]);
  });

  it('refuses the same key with another body or activity with 422, and changes nothing (case 18)', async () => {
    const activity = await api.createActivity({ quantityMax: 2 });
    const other = await api.createActivity();
    await api.placeOrder(activity.id, 'cat', 'key-422', { quantity: 1 });
    const counts = await countsOf(activity.id);
    for (const reply of [
      await api.placeOrder(activity.id, 'cat', 'key-422', { quantity: 2 }),
      await api.placeOrder(other.id, 'cat', 'key-422', { quantity: 1 }),
    ]) {
      expect([reply.statusCode, reply.json().code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    }
    expect(await countsOf(activity.id)).toEqual(counts);
    expect(await countsOf(other.id)).toEqual({ mysql: 100, redis: 100 });
    expect((await api.stock.readCounts(other.id))?.users).toBe(0);
  });

  it('negative control: without the unique key in MySQL, a repeat after a cancel sells again', async () => {
    const apart = await openTestStores();
    const unguarded = await openTestApi(apart);
    try {
      const keys = await queryDatabase(apart.mysqlUrl, 'SHOW INDEX FROM orders');
      const guard = keys.find(({ Column_name: column }) => column === 'idempotency_key')?.Key_name;
      await queryDatabase(apart.mysqlUrl, `DROP INDEX ${String(guard)} ON orders`);
      const activity = await unguarded.createActivity();
      const first = (await unguarded.placeOrder(activity.id, 'ann', 'k')).json();
      await unguarded.send({ method: 'POST', url: `/v1/orders/${first.id}/cancel`, as: 'ann' });
      expect((await unguarded.placeOrder(activity.id, 'ann', 'k')).json().id).not.toBe(first.id);
    } finally {
      await unguarded.close();
      await apart.close();
    }
  });

  it('lets two buyers use one key: keys are each buyer’s own', async () => {
    const activity = await api.createActivity();
    const replies = [
      await api.placeOrder(activity.id, 'dan', 'same-key'),
      await api.placeOrder(activity.id, 'eve', 'same-key'),
    ];
    expect(replies.map((reply) => reply.statusCode)).toEqual([201, 201]);
    expect(replies[0]?.json().id).not.toBe(replies[1]?.json().id);
  });

  it('refuses a second order of a buyer with 409 and names the order that holds', async () => {
    const activity = await api.createActivity();
    const first = (await api.placeOrder(activity.id, 'fay', 'key-a')).json();
    const second = await api.placeOrder(activity.id, 'fay', 'key-b');
    expect([second.statusCode, second.json().code, second.json().orderId]).toEqual([
      409,
      'ALREADY_HOLDING',
      first.id,
    ]);
    expect(await countsOf(activity.id)).toEqual({ mysql: 99, redis: 99 });
  });

  it('does not say that none is free where fewer are than asked for: a smaller order gets them', async () => {
    const activity = await api.createActivity({ capacity: 2, quantityMax: 3 });
    const refused = await api.placeOrder(activity.id, 'ann', 'three', { quantity: 3 });
    expect(refused.json()).toMatchObject({
      code: 'SOLD_OUT',
      title: 'Fewer places are free than asked for',
      detail: expect.stringContaining('A smaller order may still get its places'),
    });
    expect((await api.placeOrder(activity.id, 'ann', 'two', { quantity: 2 })).statusCode).toBe(201);
  });

  it('sells the last place once, and then says SOLD_OUT', async () => {
    const activity = await api.createActivity({ capacity: 1 });
    expect((await api.placeOrder(activity.id, 'gus', 'k')).statusCode).toBe(201);
    const late = await api.placeOrder(activity.id, 'hal', 'k');
    expect([late.statusCode, late.json().code]).toEqual([409, 'SOLD_OUT']);
    expect(await countsOf(activity.id)).toEqual({ mysql: 0, redis: 0 });
  });

  it('refuses whoever never had an order, when all is sold, without a query', async () => {
    const activity = await api.createActivity({ capacity: 1 });
    await api.placeOrder(activity.id, 'owner', 'k');
    const [byKey, active] = [
      vi.spyOn(api.orders, 'findOrdersByKey'),
      vi.spyOn(api.orders, 'findActiveOrder'),
    ];
    const refuse = async () => (await api.placeOrder(activity.id, 'newcomer', 'k')).json().code;
    expect(await refuse()).toBe('SOLD_OUT');
    expect([byKey.mock.calls, active.mock.calls]).toEqual([[], []]);
    // Negative control: where Redis does not know who came before, MySQL is asked.
    await stores.commandRedis('DEL', `activity:{${activity.id}}:seen`);
    expect(await refuse()).toBe('SOLD_OUT');
    expect(byKey.mock.calls).toHaveLength(1);
    vi.restoreAllMocks();
  });

  it('repeats the first answer of an order that ended before Redis was loaded anew, when all is sold', async () => {
    const activity = await api.createActivity({ capacity: 1 });
    const first = await api.placeOrder(activity.id, 'rue', 'k');
    await api.send({ method: 'POST', url: `/v1/orders/${first.json().id}/cancel`, as: 'rue' });
    await stores.flushRedis();
    await reload(activity.id);
    const places = async (buyer: string) => await api.placeOrder(activity.id, buyer, 'k');
    // The terms that this process remembers are of before the load.
    expect((await places('sue')).json().code).toBe('STOCK_NOT_READY');
    expect((await places('sue')).statusCode).toBe(201);
    const again = await places('rue');
    expect([again.statusCode, again.body]).toEqual([201, first.body]);
    expect((await places('tom')).json().code).toBe('SOLD_OUT');
  });

  it('says SOLD_OUT of a key that was used in another activity, to a buyer who never had an order in this one', async () => {
    const [activity, other] = [await api.createActivity({ capacity: 1 }), await api.createActivity()];
    await api.placeOrder(activity.id, 'uma', 'k');
    await api.placeOrder(other.id, 'vic', 'k');
    expect((await api.placeOrder(activity.id, 'vic', 'k')).json().code).toBe('SOLD_OUT');
  });

  it('gives the hold back when MySQL says sold out although Redis did not', async () => {
    const activity = await api.createActivity({ capacity: 1 });
    await queryDatabase(stores.mysqlUrl, 'UPDATE activity SET available = 0 WHERE id = ?', [activity.id]);
    const reply = await api.placeOrder(activity.id, 'ida', 'k');
    expect([reply.statusCode, reply.json().code]).toEqual([409, 'SOLD_OUT']);
    expect(await api.stock.readCounts(activity.id)).toMatchObject({ stock: 1, held: 0, users: 0 });
  });

  it('refuses outside the sale window with 403 and the window', async () => {
    const early = { saleStartsAt: '2999-01-01T00:00:00.000Z', saleEndsAt: '2999-01-02T00:00:00.000Z' };
    const late = { saleStartsAt: null, saleEndsAt: '2001-01-01T00:00:00.000Z' };
    for (const window of [early, late]) {
      const activity = await api.createActivity(window);
      const reply = await api.placeOrder(activity.id, 'jan', 'k');
      expect(reply.statusCode).toBe(403);
      expect(reply.json()).toMatchObject({ code: 'NOT_ON_SALE', ...window });
    }
  });

  it('still repeats the first answer after the sale has ended', async () => {
    const activity = await api.createActivity();
    const first = await api.placeOrder(activity.id, 'kim', 'k');
    await queryDatabase(stores.mysqlUrl, "UPDATE activity SET sale_ends_at = '2001-01-01' WHERE id = ?", [
      activity.id,
    ]);
    const fresh = await openTestApi(stores);
    try {
      const again = await fresh.placeOrder(activity.id, 'kim', 'k');
      expect([again.statusCode, again.body]).toEqual([201, first.body]);
      expect((await fresh.placeOrder(activity.id, 'lou', 'k')).json().code).toBe('NOT_ON_SALE');
    } finally {
      await fresh.close();
    }
  });

  it('refuses more places than the activity allows in one order, and names the field', async () => {
    const activity = await api.createActivity({ quantityMax: 2 });
    const reply = await api.placeOrder(activity.id, 'max', 'k', { quantity: 3 });
    expect(reply.statusCode).toBe(400);
    expect(reply.json().errors).toEqual([{ field: 'body.quantity', message: expect.stringContaining('2') }]);
    expect(await countsOf(activity.id)).toEqual({ mysql: 100, redis: 100 });
  });

  it('answers 404 for an activity that is not there', async () => {
    const reply = await api.placeOrder(999_999, 'ned', 'k');
    expect([reply.statusCode, reply.json().code]).toEqual([404, 'ACTIVITY_NOT_FOUND']);
  });

  it('refuses with 503 and Retry-After while the stock is not loaded, and sells once it is', async () => {
    const activity = await api.createActivity();
    await stores.flushRedis();
    const refused = await api.placeOrder(activity.id, 'ora', 'k');
    expect([refused.statusCode, refused.json().code, refused.headers['retry-after']]).toEqual([
      503,
      'STOCK_NOT_READY',
      '1',
    ]);
    expect(problemView.safeParse(refused.json()).success).toBe(true);
    await reload(activity.id);
    expect((await api.placeOrder(activity.id, 'ora', 'k')).statusCode).toBe(201);
  });

  it('refuses with 503 and Retry-After, and not as a fault, while the stock in Redis is damaged', async () => {
    const activity = await api.createActivity();
    const [stock, users] = [`activity:{${activity.id}}:stock`, `activity:{${activity.id}}:users`];
    const place = async () => (await api.placeOrder(activity.id, 'meret', 'k')).json().code;
    await stores.commandRedis('SET', stock, '12.5');
    expect(await place()).toBe('STOCK_NOT_READY');
    await stores.commandRedis('SET', stock, '100');
    await stores.commandRedis('SET', users, 'not a set');
    expect(await place()).toBe('STOCK_NOT_READY');
    await stores.commandRedis('DEL', users);
    expect((await api.placeOrder(activity.id, 'meret', 'k')).statusCode).toBe(201);
  });

  it.each([
    "O'Brien",
    '"; DROP TABLE orders; --',
    '用户-一',
    '💺💺',
    'ann:{42}:*',
    'é',
    'e\u0301',
    ' spaces ',
  ])('sells to the buyer %j, and to that buyer alone', async (buyer) => {
    const activity = await api.createActivity();
    const order = (await api.placeOrder(activity.id, buyer, 'k-odd')).json();
    expect((await api.send({ url: `/v1/orders/${order.id}`, as: buyer })).statusCode).toBe(200);
    expect((await api.placeOrder(activity.id, buyer, 'k-other')).json()).toMatchObject({
      code: 'ALREADY_HOLDING',
      orderId: order.id,
    });
    expect((await api.stock.readCounts(activity.id))?.users).toBe(1);
  });

  it('tells buyers apart whose names differ only in case, accents or trailing spaces', async () => {
    const activity = await api.createActivity();
    const buyers = ['ann', 'Ann', 'ánn', 'ann ', 'e\u0301', 'é'];
    const replies = await Promise.all(buyers.map((buyer) => api.placeOrder(activity.id, buyer, 'k-fold')));
    expect(replies.map((reply) => reply.statusCode)).toEqual(buyers.map(() => 201));
    expect(await countsOf(activity.id)).toEqual({ mysql: 94, redis: 94 });
  });

  it('keeps the buyer’s language: the token’s claim, else what the browser prefers', async () => {
    const activity = await api.createActivity();
    const order = (
      await api.send({
        method: 'POST',
        url: `/v1/activities/${activity.id}/orders`,
        as: 'pia',
        headers: { 'idempotency-key': 'k', 'accept-language': 'fr, zh-CN;q=0.8, en;q=0.7' },
        body: {},
      })
    ).json();
    expect((await api.orders.readOrder(order.id))?.locale).toBe('zh');
  });
});

import { activityView } from '@lapse/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTcpGate } from './tcp-gate.ts';
import { activityBody, openTestApi, openTestStores, type TestApi, type TestStores } from './test-api.ts';

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

const create = (body: object) => api.send({ method: 'POST', url: '/v1/activities', operator: true, body });

describe('opening an activity', () => {
  it('answers 201 with its defaults and address, and loads its stock', async () => {
    const reply = await create(activityBody);
    expect(reply.statusCode).toBe(201);
    const activity = activityView.parse(reply.json());
    expect(activity).toMatchObject({
      ...activityBody,
      available: 100,
      saleStartsAt: null,
      saleEndsAt: null,
      payWithinMs: 900_000,
      remindAfterMs: 600_000,
      quantityMax: 1,
      latePaymentPolicy: 'refund',
      paymentGraceMs: 30_000,
    });
    expect(reply.headers.location).toBe(`/v1/activities/${activity.id}`);
    expect(reply.json()).not.toHaveProperty('generation');
    expect(await api.stock.readCounts(activity.id)).toMatchObject({ stock: 100, held: 0, sold: 0 });
  });

  it('takes windows as text or as delay levels of RocketMQ 4.x', async () => {
    const reply = await create({ ...activityBody, payWithinMs: 'level:14', remindAfterMs: 'level:9' });
    expect(reply.json()).toMatchObject({ payWithinMs: 600_000, remindAfterMs: 300_000 });
  });

  it('keeps odd names, and times to the millisecond', async () => {
    const odd = {
      name: 'Kōnsert “"\'` 演唱会 💺 \\ %_; --',
      saleStartsAt: '2026-12-01T10:00:00.123Z',
      saleEndsAt: '2026-12-01T10:00:00.124Z',
    };
    const { id } = (await create({ ...activityBody, ...odd })).json();
    expect((await api.send({ url: `/v1/activities/${id}` })).json()).toMatchObject(odd);
  });

  it('without Redis the activity exists, and sells once its stock is loaded', async () => {
    const gate = await openTcpGate(stores.redisUrl);
    const apart = await openTestApi({ ...stores, redisUrl: gate.url });
    try {
      await gate.shut();
      const reply = await apart.send({
        method: 'POST',
        url: '/v1/activities',
        operator: true,
        body: activityBody,
      });
      expect(reply.statusCode).toBe(201);
      const { id } = reply.json();
      const refused = await api.placeOrder(id, 'ann', 'k');
      expect([refused.statusCode, refused.json().code]).toEqual([503, 'STOCK_NOT_READY']);
      await api.orders.rebuildSnapshot(id, ({ available, ...snapshot }) =>
        api.stock.load({ ...snapshot, stock: available }, ''),
      );
      expect((await api.placeOrder(id, 'ann', 'k')).statusCode).toBe(201);
    } finally {
      await apart.close();
      await gate.close();
    }
  });
});

describe('reading an activity', () => {
  it('needs no token, and counts the free places within a second', async () => {
    const { id } = (await create(activityBody)).json();
    expect((await api.send({ url: `/v1/activities/${id}` })).json().available).toBe(100);
    expect((await api.placeOrder(id, 'bea', 'k')).statusCode).toBe(201);
    await expect
      .poll(async () => (await api.send({ url: `/v1/activities/${id}` })).json().available, {
        timeout: 3_000,
      })
      .toBe(99);
  });

  it('that is not there is a 404, and does not hide one that is made later', async () => {
    const { id } = (await create(activityBody)).json();
    expect((await api.send({ url: `/v1/activities/${id + 1}` })).json().code).toBe('ACTIVITY_NOT_FOUND');
    const next = (await create(activityBody)).json();
    expect((await api.send({ url: `/v1/activities/${next.id}` })).statusCode).toBe(200);
  });
});

import { checkInvariants, queryDatabase } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openTestApi, openTestStores, type TestApi, type TestStores } from './test-api.ts';

let stores: TestStores;
/** Two processes on the same stores: what one cannot know of the other, only MySQL and Redis tell. */
let apis: [TestApi, TestApi];
beforeAll(async () => {
  stores = await openTestStores();
  apis = [await openTestApi(stores), await openTestApi(stores)];
});
afterAll(async () => {
  for (const api of apis ?? []) await api.close();
  await stores?.close();
});

/** What both stores hold of an activity, and whether they agree. */
async function storesOf(activityId: number) {
  const [activity] = await queryDatabase(stores.mysqlUrl, 'SELECT available FROM activity WHERE id = ?', [
    activityId,
  ]);
  const [orders] = await queryDatabase(
    stores.mysqlUrl,
    "SELECT COUNT(*) AS count, COUNT(DISTINCT user_id) AS buyers, COALESCE(SUM(quantity), 0) AS places FROM orders WHERE activity_id = ? AND status = 'PENDING'",
    [activityId],
  );
  const redis = await apis[0].stock.readCounts(activityId);
  return {
    orders: Number(orders?.count),
    buyers: Number(orders?.buyers),
    places: Number(orders?.places),
    available: Number(activity?.available),
    redis: { stock: redis?.stock, held: redis?.held, users: redis?.users },
  };
}

describe('creating at the same time', () => {
  it('50 clicks of one buyer with one key, on two processes, make one order and one decrement (case 17)', async () => {
    const activity = await apis[0].createActivity();
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, click) => {
        const api = click % 2 === 0 ? apis[0] : apis[1];
        return api.placeOrder(activity.id, 'ann', 'one-key');
      }),
    );
    expect(new Set(replies.map((reply) => reply.statusCode))).toEqual(new Set([201]));
    expect(new Set(replies.map((reply) => reply.body)).size).toBe(1);
    expect(replies.filter((reply) => reply.headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect(await storesOf(activity.id)).toEqual({
      orders: 1,
      buyers: 1,
      places: 1,
      available: 99,
      redis: { stock: 99, held: 1, users: 1 },
    });
  });

  it('an order whose id another buyer holds a place by fails alone, and gives back nothing', async () => {
    const activity = await apis[0].createActivity();
    const { reserve } = apis[0].stock;
    const ids: string[] = [];
    vi.spyOn(apis[0].stock, 'reserve').mockImplementationOnce(async (wanted) => {
      ids.push(wanted.orderId);
      await reserve({ ...wanted, userId: 'bob' });
      return reserve(wanted);
    });
    expect((await apis[0].placeOrder(activity.id, 'ann', 'mixed-up')).statusCode).toBe(500);
    const look = await apis[0].stock.readHold(activity.id, ids[0] ?? '');
    expect(look).toMatchObject({ kind: 'hold', hold: { userId: 'bob', state: 'held' } });
    await apis[0].stock.release(activity.id, ids);
  });

  it('negative control: 50 clicks with 50 keys make one order too, and 49 refusals that name it', async () => {
    const activity = await apis[0].createActivity();
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, click) => {
        const api = click % 2 === 0 ? apis[0] : apis[1];
        return api.placeOrder(activity.id, 'ann', `key-${click}`);
      }),
    );
    const created = replies.filter((reply) => reply.statusCode === 201);
    expect(created).toHaveLength(1);
    const refusals = replies.filter((reply) => reply.statusCode !== 201).map((reply) => reply.json());
    expect(new Set(refusals.map(({ code, orderId }) => `${code} ${orderId}`))).toEqual(
      new Set([`ALREADY_HOLDING ${created[0]?.json().id}`]),
    );
    expect((await storesOf(activity.id)).redis).toEqual({ stock: 99, held: 1, users: 1 });
  });

  it('400 buyers for 100 places: exactly 100 orders, 300 refusals, and both stores agree', async () => {
    const activity = await apis[0].createActivity({ capacity: 100 });
    const replies = await Promise.all(
      Array.from({ length: 400 }, (_, buyer) => {
        const api = buyer % 2 === 0 ? apis[0] : apis[1];
        return api.placeOrder(activity.id, `buyer-${buyer}`, 'k');
      }),
    );
    expect(replies.filter((reply) => reply.statusCode === 201)).toHaveLength(100);
    const refusals = replies.filter((reply) => reply.statusCode !== 201);
    expect(new Set(refusals.map((reply) => reply.json().code))).toEqual(new Set(['SOLD_OUT']));
    expect(await storesOf(activity.id)).toEqual({
      orders: 100,
      buyers: 100,
      places: 100,
      available: 0,
      redis: { stock: 0, held: 100, users: 100 },
    });
  });

  it('orders of several places never leave less than none: 60 buyers of 3 for 100 places', async () => {
    const activity = await apis[0].createActivity({ capacity: 100, quantityMax: 3 });
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, buyer) => {
        const api = buyer % 2 === 0 ? apis[0] : apis[1];
        return api.placeOrder(activity.id, `three-${buyer}`, 'k', { quantity: 3 });
      }),
    );
    expect(replies.filter((reply) => reply.statusCode === 201)).toHaveLength(33);
    expect(await storesOf(activity.id)).toMatchObject({
      places: 99,
      available: 1,
      redis: { stock: 1, held: 99, users: 33 },
    });
  });

  it('orders that arrive together are written together: one outbox row for many', async () => {
    const activity = await apis[0].createActivity();
    const rowsBefore = apis[0].relayed.length;
    await Promise.all(
      Array.from({ length: 60 }, (_, buyer) => apis[0].placeOrder(activity.id, `batch-${buyer}`, 'k')),
    );
    const rows = apis[0].relayed.slice(rowsBefore);
    expect(rows.flatMap((row) => row.orders)).toHaveLength(60);
    expect(rows.length).toBeLessThan(30);
  });

  it('after all of this the oracle finds no invariant broken', async () => {
    const verdict = await checkInvariants({
      mysqlUrl: stores.mysqlUrl,
      redisUrl: stores.redisUrl,
      atRest: false,
    });
    expect(verdict.failed).toEqual([]);
  });
});

import type { NewOrder } from '@lapse/order-repository';
import { queryDatabase } from '@lapse/testing';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestHash } from '../src/request-hash.ts';
import { WaitedTooLongError, writeBatch } from '../src/write-batch.ts';
import { openTestApi, openTestStores, type TestApi, type TestStores } from './test-api.ts';

let stores: TestStores;
let api: TestApi;
let activityId: number;
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
  activityId = (await api.createActivity({ capacity: 1_000 })).id;
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

let count = 0;
const newOrder = (change: Partial<NewOrder> = {}): NewOrder => {
  count += 1;
  const createdAt = change.createdAt ?? new Date(api.orders.now());
  return {
    id: uuidv7(),
    activityId,
    generation: 1,
    userId: `batch-${count}`,
    quantity: 1,
    amountMinor: 1,
    currency: 'CNY',
    locale: 'en',
    createdAt,
    remindAt: new Date(createdAt.getTime() + 1_000),
    expiresAt: new Date(createdAt.getTime() + 2_000),
    idempotencyKey: 'k',
    requestHash: requestHash(activityId, { quantity: 1 }),
    ...change,
  };
};
const ports = () => ({ orders: api.orders, relay: { add: () => {} } });

describe('writing a batch', () => {
  it('leaves out what waited too long, and answers the rest in the order of the input', async () => {
    const late = newOrder({ createdAt: new Date(api.orders.now() - 6_000) });
    const results = await writeBatch(ports(), [newOrder(), late, newOrder()]);
    expect(results.map(({ kind }) => kind)).toEqual(['created', 'failed', 'created']);
    expect(results[1]).toMatchObject({ error: expect.any(WaitedTooLongError) });
    expect(await api.orders.readOrder(late.id)).toBeUndefined();
    expect(await writeBatch(ports(), [late])).toMatchObject([{ kind: 'failed' }]);
  });

  it('singles out the one order that MySQL refuses among 256', async () => {
    await queryDatabase(
      stores.mysqlUrl,
      `CREATE TRIGGER refuse_one BEFORE INSERT ON orders FOR EACH ROW
       IF NEW.user_id = 'poison' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF`,
    );
    const batch = Array.from({ length: 256 }, (_, index) =>
      newOrder(index === 77 ? { userId: 'poison' } : {}),
    );
    const results = await writeBatch(ports(), batch);
    expect(results.flatMap(({ kind }, index) => (kind === 'created' ? [] : [index]))).toEqual([77]);
  });

  it('writes the orders of one activity while the row of another is kept locked, whose buyers come back later', async () => {
    const locked = (await api.createActivity({ capacity: 10 })).id;
    const batch = [newOrder(), newOrder({ activityId: locked }), newOrder()];
    const undone = new Error('the lock is let go');
    const holding = api.orders.rebuildSnapshot(locked, async () => {
      const results = await writeBatch(ports(), batch);
      expect(results.map(({ kind }) => kind)).toEqual(['created', 'activity_locked', 'created']);
      const refused = await api.placeOrder(locked, 'late', 'k');
      expect([refused.statusCode, refused.json().code]).toEqual([503, 'UNAVAILABLE']);
      throw undone;
    });
    await expect(holding).rejects.toBe(undone);
    // Its hold was given back, so the same buyer gets a place now.
    expect((await api.placeOrder(locked, 'late', 'k')).statusCode).toBe(201);
    expect(await api.stock.readCounts(locked)).toMatchObject({ stock: 9, held: 1 });
  }, 20_000);

  it('gives up on a batch that MySQL refuses whole, after a bounded number of transactions', async () => {
    let transactions = 0;
    const orders = {
      now: api.orders.now,
      createOrders: (part: readonly NewOrder[]) => {
        transactions += 1;
        return api.orders.createOrders(part);
      },
    };
    const batch = Array.from({ length: 256 }, () => newOrder({ userId: 'poison', idempotencyKey: uuidv7() }));
    const results = await writeBatch({ orders, relay: { add: () => {} } }, batch);
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['failed']));
    expect(results).toHaveLength(256);
    expect(transactions).toBeLessThan(100);
  });
});

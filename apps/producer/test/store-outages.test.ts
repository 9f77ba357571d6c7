import { queryDatabase, waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTcpGate, type TcpGate } from './tcp-gate.ts';
import { openTestApi, openTestStores, paymentEvent, type TestApi, type TestStores } from './test-api.ts';

let stores: TestStores;
let mysqlGate: TcpGate;
let redisGate: TcpGate;
/** Reaches its stores through gates that can be shut. */
let api: TestApi;
/** Reaches them directly: to look at what is really there. */
let witness: TestApi;
beforeAll(async () => {
  stores = await openTestStores();
  mysqlGate = await openTcpGate(stores.mysqlUrl);
  redisGate = await openTcpGate(stores.redisUrl);
  api = await openTestApi({ mysqlUrl: mysqlGate.url, redisUrl: redisGate.url });
  witness = await openTestApi(stores);
});
afterAll(async () => {
  await api?.close();
  await witness?.close();
  await mysqlGate?.close();
  await redisGate?.close();
  await stores?.close();
});

const ordersOf = async (activityId: number) => {
  const [row] = await queryDatabase(
    stores.mysqlUrl,
    'SELECT COUNT(*) AS count FROM orders WHERE activity_id = ?',
    [activityId],
  );
  return Number(row?.count);
};
const untouched = { stock: 100, held: 0, sold: 0, users: 0 };

describe('an insert that fails (case 16)', () => {
  it('gives back the place and the buyer, and the same request succeeds once the fault is gone', async () => {
    const activity = await witness.createActivity();
    const trigger = `CREATE TRIGGER refuse_orders BEFORE INSERT ON orders FOR EACH ROW
      IF NEW.activity_id = ${activity.id} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret detail'; END IF`;
    await queryDatabase(stores.mysqlUrl, trigger);
    try {
      const reply = await witness.placeOrder(activity.id, 'ann', 'k');
      expect([reply.statusCode, reply.json().code]).toEqual([500, 'INTERNAL']);
      expect(reply.body).not.toContain('secret detail');
      expect(await witness.stock.readCounts(activity.id)).toMatchObject(untouched);
      expect(await ordersOf(activity.id)).toBe(0);
    } finally {
      await queryDatabase(stores.mysqlUrl, 'DROP TRIGGER refuse_orders');
    }
    expect((await witness.placeOrder(activity.id, 'ann', 'k')).statusCode).toBe(201);
  });

  it('for one order does not fail the others that travel with it', async () => {
    const activity = await witness.createActivity();
    const trigger = `CREATE TRIGGER refuse_one BEFORE INSERT ON orders FOR EACH ROW
      IF NEW.user_id = 'poison' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF`;
    await queryDatabase(stores.mysqlUrl, trigger);
    try {
      const buyers = [...Array.from({ length: 20 }, (_, index) => `b${index}`), 'poison'];
      const replies = await Promise.all(buyers.map((buyer) => witness.placeOrder(activity.id, buyer, 'k')));
      expect(replies.filter((reply) => reply.statusCode === 201)).toHaveLength(20);
      expect(replies.at(-1)?.statusCode).toBe(500);
      expect(await witness.stock.readCounts(activity.id)).toMatchObject({ stock: 80, held: 20, users: 20 });
    } finally {
      await queryDatabase(stores.mysqlUrl, 'DROP TRIGGER refuse_one');
    }
  });
});

describe('while MySQL is away (case 27)', () => {
  it('everything answers 503 with Retry-After, no hold is left, and it works again afterwards', async () => {
    const activity = await witness.createActivity();
    const order = (await api.placeOrder(activity.id, 'ben', 'k')).json();
    await mysqlGate.shut();
    try {
      const replies = [
        ...(await Promise.all(
          Array.from({ length: 20 }, (_, index) => api.placeOrder(activity.id, `away-${index}`, 'k')),
        )),
        await api.send({ url: `/v1/orders/${order.id}`, as: 'ben' }),
        await api.send({ method: 'POST', url: `/v1/orders/${order.id}/cancel`, as: 'ben' }),
        await api.pay(paymentEvent(order)),
      ];
      for (const reply of replies) {
        expect([reply.statusCode, reply.json().code]).toEqual([503, 'UNAVAILABLE']);
        expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
        expect(reply.body).not.toMatch(/ECONN|127\.0\.0\.1/);
      }
      expect(await witness.stock.readCounts(activity.id)).toMatchObject({ stock: 99, held: 1, users: 1 });
    } finally {
      await mysqlGate.open();
    }
    await waitUntil(async () => (await api.placeOrder(activity.id, 'away-0', 'k')).statusCode === 201, {
      what: 'an order to be sold again',
    });
    expect(await ordersOf(activity.id)).toBe(2);
  });
});

describe('when the answer to COMMIT is lost and MySQL stays away', () => {
  it('the hold is kept, because the order may exist; the repeat finds it, and both stores agree', async () => {
    const activity = await witness.createActivity();
    await waitUntil(
      async () => (await api.send({ url: `/v1/activities/${activity.id}` })).statusCode === 200,
      {
        what: 'MySQL to be connected',
      },
    );
    const shut = mysqlGate.shutAfterCommit();
    const reply = await api.placeOrder(activity.id, 'unsure', 'k');
    await shut;
    expect(await ordersOf(activity.id)).toBe(1);
    expect([reply.statusCode, reply.json().code]).toEqual([503, 'UNAVAILABLE']);
    expect(await witness.stock.readCounts(activity.id)).toMatchObject({ stock: 99, held: 1, users: 1 });
    await mysqlGate.open();
    const again = await waitUntil(
      async () => {
        const next = await api.placeOrder(activity.id, 'unsure', 'k');
        return next.statusCode === 201 ? next : undefined;
      },
      { what: 'the repeat to be answered' },
    );
    expect(again?.headers['idempotent-replayed']).toBe('true');
    expect(await ordersOf(activity.id)).toBe(1);
    expect(await witness.stock.readCounts(activity.id)).toMatchObject({ stock: 99, held: 1, users: 1 });
  });
});

describe('while Redis is away', () => {
  it('creates answer 503, nothing is written, and the same request succeeds afterwards', async () => {
    const activity = await witness.createActivity();
    await api.send({ url: `/v1/activities/${activity.id}` });
    await redisGate.shut();
    try {
      const reply = await api.placeOrder(activity.id, 'cat', 'k');
      expect([reply.statusCode, reply.json().code]).toEqual([503, 'UNAVAILABLE']);
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
      expect(await ordersOf(activity.id)).toBe(0);
    } finally {
      await redisGate.open();
    }
    await waitUntil(async () => (await api.placeOrder(activity.id, 'cat', 'k')).statusCode === 201, {
      what: 'an order to be sold again',
    });
    expect(await witness.stock.readCounts(activity.id)).toMatchObject({ stock: 99, held: 1, users: 1 });
  });

  it('orders are cancelled and paid all the same; what Redis lacks waits in MySQL', async () => {
    const activity = await witness.createActivity();
    const cancelled = (await api.placeOrder(activity.id, 'dan', 'k')).json();
    const paid = (await api.placeOrder(activity.id, 'eve', 'k')).json();
    await redisGate.shut();
    try {
      const cancel = { method: 'POST', url: `/v1/orders/${cancelled.id}/cancel`, as: 'dan' } as const;
      expect((await api.send(cancel)).json().status).toBe('CANCELLED');
      expect((await api.pay(paymentEvent(paid))).json()).toEqual({ outcome: 'paid' });
    } finally {
      await redisGate.open();
    }
    const effects = await witness.orders.listPendingEffects({ olderThanMs: 0, limit: 100 });
    expect(effects.map(({ kind, orderIds }) => `${kind} ${orderIds}`).sort()).toEqual([
      `confirm ${paid.id}`,
      `release ${cancelled.id}`,
    ]);
  });

  it('a hold that cannot be released at once is released when Redis is back', async () => {
    const activity = await witness.createActivity();
    await waitUntil(async () => (await api.placeOrder(activity.id, 'fay', 'k')).statusCode === 201, {
      what: 'Redis to be connected',
    });
    // Sold out in MySQL, so that the hold must go back; but Redis leaves right after it was taken.
    await queryDatabase(stores.mysqlUrl, 'UPDATE activity SET available = 0 WHERE id = ?', [activity.id]);
    const lock = await blockInserts(activity.id);
    const reply = api.placeOrder(activity.id, 'gus', 'k');
    await waitUntil(async () => (await witness.stock.readCounts(activity.id))?.held === 2, {
      what: 'the hold',
    });
    await redisGate.shut();
    await lock.release();
    expect((await reply).json().code).toBe('SOLD_OUT');
    expect((await witness.stock.readCounts(activity.id))?.held).toBe(2);
    await redisGate.open();
    await waitUntil(async () => (await witness.stock.readCounts(activity.id))?.held === 1, {
      what: 'the hold to be released in the background',
    });
  });
});

describe('when more requests wait than the queue takes', () => {
  it('the rest are answered 503 OVERLOADED with Retry-After, and hold nothing', async () => {
    const small = await openTestApi(stores, { batchMax: 1, queueMax: 2 });
    try {
      const activity = await small.createActivity();
      const lock = await blockInserts(activity.id);
      let refusals = 0;
      const replies = Array.from({ length: 20 }, async (_, index) => {
        const reply = await small.placeOrder(activity.id, `crowd-${index}`, 'k');
        if (reply.statusCode !== 201) refusals += 1;
        return reply;
      });
      // One may be in flight when the others come, and two wait; all others are refused while it still is.
      await waitUntil(() => refusals >= 17, { what: 'the crowd to be refused' });
      await lock.release();
      const refused = (await Promise.all(replies)).filter((reply) => reply.statusCode !== 201);
      expect(refused).toHaveLength(refusals);
      for (const reply of refused) {
        expect([reply.json().code, reply.headers['retry-after']]).toEqual(['OVERLOADED', '1']);
      }
      const sold = 20 - refusals;
      expect(await witness.stock.readCounts(activity.id)).toMatchObject({
        stock: 100 - sold,
        held: sold,
        users: sold,
      });
      expect(await ordersOf(activity.id)).toBe(sold);
    } finally {
      await small.close();
    }
  });
});

/** Hold the activity's row in MySQL, so that no order of it can be committed. */
async function blockInserts(activityId: number): Promise<{ release(): Promise<void> }> {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let locked = (): void => {};
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve;
  });
  // The rebuild's own transaction is the one way in here that locks an activity for as long as we like.
  const blocked = witness.orders.rebuildSnapshot(activityId, async () => {
    locked();
    await held;
    throw new Error('rolled back: the test only wanted the lock');
  });
  blocked.catch(() => {});
  await isLocked;
  return {
    release: async () => {
      release();
      await blocked.catch(() => {});
    },
  };
}

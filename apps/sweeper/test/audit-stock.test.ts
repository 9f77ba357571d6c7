import { crc32 } from 'node:zlib';
import { applyEffects } from '@lapse/order-flow';
import type { Activity } from '@lapse/order-repository';
import { compareStock } from '@lapse/stock-audit';
import { captureLog, log, openActivity, openShop, placeOrders, readStock, type Shop } from '@lapse/test-shop';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AuditStockParts, auditStock } from '../src/audit-stock.ts';

const signal = new AbortController().signal;
const ahead = { remindInMs: 60_000, expireInMs: 120_000 };
const config = {
  auditSecondLookMs: 20,
  orphansAfterMs: 60_000,
  auditBudgetMs: 60_000,
  auditEveryOrderRuns: 1,
};

let shop: Shop;
let activity: Activity;
let ids: string[];
let keys: string;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());
/** Ten places: two pending, one paid, one closed, all of it known to Redis. */
beforeEach(async () => {
  activity = await openActivity(shop, 10);
  keys = `activity:{${activity.id}}`;
  const placed = await placeOrders(shop, activity, 4, ahead);
  ids = placed.ids;
  await pay(ids[2] ?? '');
  const buyer = placed.closeDue[3]?.userId ?? '';
  await shop.orders.cancelOrder(ids[3] ?? '', buyer);
  await settle();
});

async function pay(orderId: string): Promise<void> {
  const { outcome } = await shop.orders.recordPayment({
    eventId: `event ${orderId}`,
    type: 'payment.captured',
    paymentId: `payment ${orderId}`,
    orderId,
    amountMinor: activity.priceMinor,
    currency: activity.currency,
    occurredAt: new Date(),
  });
  expect(outcome).toBe('paid');
}

/** Tell Redis all that it is owed, and forget that it was. */
async function settle(): Promise<void> {
  const effects = await shop.orders.listPendingEffects({ olderThanMs: 0, limit: 100 });
  await applyEffects({ stock: shop.stock, orders: shop.orders, log }, effects);
}

function audit(change: Partial<AuditStockParts> = {}): Promise<number> {
  return auditStock({ orders: shop.orders, stock: shop.stock, log, config, ...change })(signal);
}

const findingsOf = async (id: number) =>
  (await shop.orders.listFindings({ limit: 200 })).filter(({ activityId }) => activityId === id);
const findings = async () =>
  (await findingsOf(activity.id)).map(
    ({ kind, action, healedAt }) => `${kind}: ${action}${healedAt === null ? ', not healed' : ''}`,
  );
const generation = async () => (await shop.orders.readActivity(activity.id))?.generation;

/** MySQL and Redis agree to the last unit: 2 held, 1 sold, 7 free, 3 users, and no audit finds more. */
async function expectHealed(): Promise<void> {
  expect(await shop.stock.readCounts(activity.id)).toMatchObject({ stock: 7, held: 2, sold: 1, users: 3 });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 7, redis: 7, held: 2 });
  expect(await audit()).toBe(0);
}

test('an activity in which both agree is left alone: nothing written, nothing logged', async () => {
  const captured = captureLog();
  expect(await audit({ log: captured.log })).toBe(0);
  expect(await findings()).toEqual([]);
  expect(captured.lines).toEqual([]);
  await expectHealed();
});

/** Of the map of buyers of so small an activity. */
const seenBits = 8_192;

describe('drift of one order is healed alone, without a rebuild', () => {
  const held = () => ids[0] ?? '';
  const paid = () => ids[2] ?? '';
  const closed = () => ids[3] ?? '';
  const userOf = (id: string) => `buyer ${id}`;
  const forget = async (id: string) => {
    await shop.redisCommand('hdel', `${keys}:holds`, id);
    await shop.redisCommand('srem', `${keys}:users`, userOf(id));
    await shop.redisCommand('incr', `${keys}:stock`);
  };
  const write = (id: string, letter: string) =>
    shop.redisCommand('hset', `${keys}:holds`, id, `${letter}:1:${Date.now() - 120_000}:${userOf(id)}`);
  const cases: [kind: string, action: string, damage: () => Promise<unknown>][] = [
    ['hold_missing', 'reserve', () => forget(held())],
    ['sale_missing', 'reacquire', () => forget(paid())],
    ['sale_unconfirmed', 'confirm', () => write(paid(), 'h')],
    [
      'hold_left',
      'release',
      async () => {
        await write(closed(), 'h');
        await shop.redisCommand('sadd', `${keys}:users`, userOf(closed()));
        await shop.redisCommand('decr', `${keys}:stock`);
      },
    ],
    [
      'hold_without_order',
      'fence_and_release',
      async () => {
        const id = `01890000-0000-7000-8000-${String(activity.id).padStart(12, '0')}`;
        await write(id, 'h');
        await shop.redisCommand('sadd', `${keys}:users`, userOf(id));
        await shop.redisCommand('setbit', `${keys}:seen`, crc32(userOf(id)) % seenBits, 1);
        await shop.redisCommand('decr', `${keys}:stock`);
      },
    ],
  ];

  test.each(cases)('%s: %s', async (kind, action, damage) => {
    await damage();
    const before = await generation();
    const captured = captureLog();

    expect(await audit({ log: captured.log })).toBe(1);

    expect(await findings()).toEqual([`${kind}: ${action}`]);
    expect(captured.lines).toHaveLength(1);
    expect(captured.lines[0]).toMatchObject({ activityId: activity.id, found: { [kind]: 1 } });
    expect(await generation()).toBe(before);
    await expectHealed();
  });
});

describe('drift that no single order explains is healed by a rebuild under a new generation', () => {
  const held = () => ids[0] ?? '';
  const cases: [what: string, kind: string, damage: () => Promise<unknown>][] = [
    ['a counter that is off by three', 'counter_off', () => shop.redisCommand('incrby', `${keys}:stock`, 3)],
    [
      'a sale that nobody paid',
      'sold_without_payment',
      async () => shop.stock.confirm(activity.id, [held()]),
    ],
    [
      'a user that is gone from the set',
      'user_missing',
      () => shop.redisCommand('srem', `${keys}:users`, `buyer ${held()}`),
    ],
    [
      'a buyer whom the map of buyers has lost',
      'user_unseen',
      () => shop.redisCommand('set', `${keys}:seen`, '\0'.repeat(1_024)),
    ],
    ['a user without an order', 'user_extra', () => shop.redisCommand('sadd', `${keys}:users`, 'nobody')],
    ['a counter below zero', 'unreadable', () => shop.redisCommand('set', `${keys}:stock`, '-5')],
    [
      'a hold that is not readable',
      'unreadable',
      () => shop.redisCommand('hset', `${keys}:holds`, held(), 'x'),
    ],
    ['a key of another type', 'unreadable', () => shop.redisCommand('set', `${keys}:holds`, 'x')],
    [
      'a hold of what is no order',
      'unreadable',
      () => shop.redisCommand('hset', `${keys}:holds`, held().toUpperCase(), `h:1:${Date.now() - 1_000}:ann`),
    ],
    [
      'a capacity that MySQL never had',
      'capacity_differs',
      () => shop.redisCommand('set', `${keys}:capacity`, '2:10'),
    ],
    ['a pending order that was given back', 'hold_missing', () => shop.stock.release(activity.id, [held()])],
    [
      'a hold of another quantity',
      'hold_differs',
      async () => {
        await shop.redisCommand('hset', `${keys}:holds`, held(), `h:2:${Date.now() - 1_000}:buyer ${held()}`);
        await shop.redisCommand('decr', `${keys}:stock`);
      },
    ],
  ];

  test.each(cases)('%s: %s', async (_what, kind, damage) => {
    await damage();
    const before = (await generation()) ?? 0;

    expect(await audit()).toBeGreaterThan(0);

    expect(await findings()).toContain(`${kind}: rebuild`);
    expect(await generation()).toBe(before + 1);
    await expectHealed();
  });

  test('a server that went back in time without a restart: every order since then', async () => {
    const { ids: later } = await placeOrders(shop, activity, 5, ahead);
    // As the keys were before the five, under the same generation and run id.
    await shop.redisCommand('hdel', `${keys}:holds`, ...later);
    await shop.redisCommand('srem', `${keys}:users`, ...later.map((id) => `buyer ${id}`));
    await shop.redisCommand('incrby', `${keys}:stock`, 5);
    await shop.redisCommand('srem', `${keys}:users`, `buyer ${ids[0]}`);

    expect(await audit()).toBe(6);

    expect(await findings()).toContain('hold_missing: rebuild');
    expect(await readStock(shop, activity.id)).toEqual({ mysql: 2, redis: 2, held: 7 });
  });
});

describe('what is under way is not taken for drift', () => {
  test('an effect that Redis was not told yet, and a hold whose order is being written', async () => {
    await pay(ids[0] ?? '');
    const { generation: now, stockRunId } = activity;
    const young = { activityId: activity.id, generation: now, stockRunId, userId: 'young', quantity: 1 };
    await shop.stock.reserve({ ...young, orderId: '01890000-0000-7000-8000-0000000000aa' });

    expect(await audit()).toBe(0);

    expect(await findings()).toEqual([]);
    await shop.query('DELETE FROM effect');
    expect(await audit()).toBe(1);
    expect(await findings()).toEqual(['sale_unconfirmed: confirm']);
    await shop.stock.release(activity.id, ['01890000-0000-7000-8000-0000000000aa']);
  });

  /** Each reading of the orders is followed by a payment, and Redis is told of it before it is read. */
  function ordersThatArePaidMeanwhile() {
    const waiting = [ids[0] ?? '', ids[1] ?? ''];
    return {
      ...shop.orders,
      readActiveOrders: async (...args: Parameters<typeof shop.orders.readActiveOrders>) => {
        const orders = await shop.orders.readActiveOrders(...args);
        const next = args[0] === activity.id ? waiting.shift() : undefined;
        if (next !== undefined) {
          await pay(next);
          await settle();
        }
        return orders;
      },
    };
  }

  test('orders that are paid between the readings of MySQL and of Redis', async () => {
    expect(await audit({ orders: ordersThatArePaidMeanwhile() })).toBe(0);
    expect(await findings()).toEqual([]);
    expect(await shop.stock.readCounts(activity.id)).toMatchObject({ held: 0, sold: 3 });
  });

  test('negative control: a single look finds a paid order sold without payment, and would rebuild for it', async () => {
    const orders = ordersThatArePaidMeanwhile();
    const changes = await orders.readPendingChanges(activity.id);
    const counts = await orders.readActivityCounts(activity.id);
    const active = await orders.readActiveOrders(activity.id, { afterUserId: null, limit: 100 });
    const image = await shop.stock.inspect(activity.id);
    if (changes === null || counts === null || image.kind !== 'loaded') throw new Error('it is loaded');
    const once = compareStock({
      counts,
      changes,
      active: new Map(active.map((order) => [order.orderId, order])),
      image,
      statuses: new Map(),
      writtenBeforeMs: image.atMs - 60_000,
    });
    expect(once.map(({ kind }) => kind)).toEqual(['sold_without_payment']);
  });

  test('negative control: with the list of pending effects ignored, an order would be confirmed twice over', async () => {
    await pay(ids[0] ?? '');
    const orders = {
      ...shop.orders,
      readPendingChanges: async () => ({ orderIds: new Set<string>(), capacity: false }),
    };
    expect(await audit({ orders })).toBe(1);
    await settle();
  });
});

test('two auditors at once heal once: one rebuild, and both see it healed', async () => {
  await shop.redisCommand('incrby', `${keys}:stock`, 2);
  const before = (await generation()) ?? 0;
  await Promise.all([audit(), audit()]);
  expect(await generation()).toBe(before + 1);
  await expectHealed();
});

test('an activity that cannot be read does not keep the others from being healed', async () => {
  await shop.redisCommand('incrby', `${keys}:stock`, 2);
  const broken = await openActivity(shop, 1);
  const stock = {
    ...shop.stock,
    inspect: (id: number) => (id === broken.id ? Promise.reject(new Error('no')) : shop.stock.inspect(id)),
  };
  await expect(audit({ stock })).rejects.toThrow('at least one activity');
  await expectHealed();
});

test('what was found is on record before it is touched', async () => {
  await shop.redisCommand('incrby', `${keys}:stock`, 2);
  const stock = { ...shop.stock, load: () => Promise.reject(new Error('Redis is away')) };
  await expect(audit({ stock })).rejects.toThrow();
  expect(await findings()).toEqual(['counter_off: rebuild, not healed']);
  expect(await audit()).toBe(1);
  expect(await findings()).toContain('counter_off: rebuild');
});

test('sales go on during audits, and none is taken for drift', async () => {
  const busy = await openActivity(shop, 2_000);
  let stop = false;
  const selling = (async () => {
    while (!stop) {
      const { ids: sold } = await placeOrders(shop, busy, 20, ahead);
      await shop.orders.cancelOrder(sold[0] ?? '', `buyer ${sold[0]}`);
      await settle();
    }
  })();
  for (let run = 0; run < 5; run += 1) expect(await audit()).toBe(0);
  stop = true;
  await selling;
  expect(await findingsOf(busy.id)).toEqual([]);
});

test('an activity that is over is looked at whole, and only in the runs that compare every order', async () => {
  const over = await openActivity(shop, 5);
  await shop.query('UPDATE activity SET sale_ends_at = NOW(3) - INTERVAL 1 DAY WHERE id = ?', [over.id]);
  const inspected: number[] = [];
  const inspect = (id: number) => {
    inspected.push(id);
    return shop.stock.inspect(id);
  };
  const run = auditStock({
    orders: shop.orders,
    stock: { ...shop.stock, inspect },
    log,
    config: { ...config, auditEveryOrderRuns: 3 },
  });
  const looksOf = (id: number) => inspected.filter((one) => one === id).length;
  await run(signal);
  expect(looksOf(over.id)).toBe(2);
  await run(signal);
  await run(signal);
  expect([looksOf(over.id), looksOf(activity.id)]).toEqual([2, 4]);
  await run(signal);
  expect(looksOf(over.id)).toBe(4);
});

test('a pass over those that are over keeps no live activity from its audit, and goes on where it was cut short', async () => {
  const over = [(await openActivity(shop, 5)).id, (await openActivity(shop, 5)).id];
  const live = (await openActivity(shop, 5)).id;
  await shop.query('DELETE FROM activity WHERE id NOT IN (?)', [[...over, live]]);
  await shop.query('UPDATE activity SET sale_ends_at = NOW(3) - INTERVAL 1 DAY WHERE id IN (?)', [over]);
  const now = performance.now.bind(performance);
  let passedMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
  const inspected = new Set<number>();
  const inspect = (id: number) => {
    inspected.add(id);
    if (id !== live) passedMs += config.auditBudgetMs;
    return shop.stock.inspect(id);
  };
  const stock = { ...shop.stock, inspect };
  const parts = { orders: shop.orders, stock, log, config: { ...config, auditEveryOrderRuns: 20 } };
  const run = auditStock(parts);
  const looksOfRun = async () => {
    inspected.clear();
    await run(signal);
    return [...inspected];
  };
  try {
    expect(await looksOfRun()).toEqual([live, over[0]]);
    expect(await looksOfRun()).toEqual([live, over[1]]);
    expect(await looksOfRun()).toEqual([live]);
  } finally {
    clock.mockRestore();
  }
});

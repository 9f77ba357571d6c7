import { openOrderRepository } from '@lapse/order-repository';
import { readConfig, sleep } from '@lapse/runtime';
import {
  captureLog,
  countCredits,
  log,
  openActivity,
  openShop,
  placeOrders,
  readStock,
  type Shop,
} from '@lapse/test-shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyLeftEffects } from '../src/apply-left-effects.ts';
import { closeOverdue } from '../src/close-overdue.ts';

const config = { graceMs: 15_000, batchMax: 500, budgetMs: 8_000 };
const minuteMs = 60_000;
const overdue = { remindInMs: -6 * minuteMs, expireInMs: -minuteMs };
const signal = new AbortController().signal;

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

function sweepOf(settings: Partial<typeof config> = {}) {
  return closeOverdue({ orders: shop.orders, stock: shop.stock, log, config: { ...config, ...settings } });
}

test('case 10: with the broker dead, one sweep closes 300 overdue orders and returns their stock', async () => {
  const activity = await openActivity(shop, 300);
  await placeOrders(shop, activity, 300, overdue);

  const counts = await sweepOf({ batchMax: 100 })(signal);

  expect(counts).toEqual({ closed: 300, parked: 0, batches: 4, drained: true });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 300, redis: 300, held: 0 });
  expect(await countCredits(shop, activity.id)).toBe(300);
});

test('an order inside the grace is left to its message; at a grace of 0 the sweep takes it', async () => {
  const activity = await openActivity(shop, 2);
  await placeOrders(shop, activity, 1, { remindInMs: -6 * minuteMs, expireInMs: -14_000 });
  expect((await sweepOf()(signal)).closed).toBe(0);
  expect((await sweepOf({ graceMs: 0 })(signal)).closed).toBe(1);
});

test("the seed's settings are valid: every 5 minutes, older than 20 minutes, 100 a batch", async () => {
  const { sweeper } = readConfig(
    {
      LAPSE_SWEEP_EVERY: '5m',
      LAPSE_SWEEP_GRACE: '5m',
      LAPSE_SWEEP_BATCH_MAX: '100',
      LAPSE_SWEEP_BUDGET: '4m',
    },
    ['sweeper'],
  );
  expect(sweeper).toMatchObject({ everyMs: 300_000, graceMs: 300_000, batchMax: 100, budgetMs: 240_000 });
  const activity = await openActivity(shop, 300);
  // Pay within 15 minutes: created 20 minutes and 1 second ago, and 19 minutes ago.
  const old = { remindInMs: -10 * minuteMs - 1_000, expireInMs: -5 * minuteMs - 1_000 };
  const young = { remindInMs: -9 * minuteMs, expireInMs: -4 * minuteMs };
  await placeOrders(shop, activity, 250, old);
  const { ids } = await placeOrders(shop, activity, 10, young);

  const counts = await sweepOf(sweeper)(signal);

  expect(counts).toEqual({ closed: 250, parked: 0, batches: 3, drained: true });
  expect((await shop.orders.readOrder(ids[0] ?? ''))?.status).toBe('PENDING');
  await sweepOf({ graceMs: 0 })(signal);
});

test('case 11: of 250 due orders one always fails: 249 close, one is parked, and it is logged at error', async () => {
  const activity = await openActivity(shop, 250);
  const { ids } = await placeOrders(shop, activity, 250, overdue);
  const bad = ids[123] ?? '';
  await shop.query(
    `CREATE TRIGGER always_fails BEFORE UPDATE ON orders FOR EACH ROW
     IF NEW.id = UNHEX('${bad.replaceAll('-', '')}') THEN
       SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'this one always fails';
     END IF`,
  );
  const captured = captureLog();
  const sweep = closeOverdue({ orders: shop.orders, stock: shop.stock, log: captured.log, config });

  const first = await sweep(signal);
  const second = await sweep(signal);

  expect(first).toMatchObject({ closed: 249, parked: 1, drained: true });
  expect(second).toMatchObject({ closed: 0, drained: true });
  const alerts = captured.lines.filter(({ level }) => level === 'error');
  expect(alerts).toHaveLength(1);
  expect(alerts[0]).toMatchObject({ orderIds: [bad] });
  const [parked] = await shop.query('SELECT kind, CAST(ref AS CHAR) AS ref, reason FROM parked');
  expect(parked).toEqual({
    kind: 'order',
    ref: bad,
    reason: expect.stringContaining('this one always fails'),
  });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 249, redis: 249, held: 1 });
  await shop.query('DROP TRIGGER always_fails');
});

test('case 12: four sweepers and a closer at once give 200 orders back exactly once', async () => {
  const activity = await openActivity(shop, 200);
  const { ids } = await placeOrders(shop, activity, 200, overdue);
  const repositories = await Promise.all(
    Array.from({ length: 5 }, () =>
      openOrderRepository({ url: shop.databaseUrl, poolMax: 2, queryTimeoutMs: 10_000 }, log),
    ),
  );
  try {
    const work = repositories.map((orders, index) =>
      index < 4
        ? closeOverdue({ orders, stock: shop.stock, log, config: { ...config, batchMax: 30 } })(signal)
        : orders.closeExpired(ids, { cause: 'message' }),
    );
    await Promise.all(work);
    // What one had locked the others skipped: the next sweep finds nothing left, or takes it.
    await sweepOf()(signal);
  } finally {
    for (const orders of repositories) await orders.close();
  }
  // The closer of this test leaves its effects to the sweeper, as one that is killed would.
  expect(await countCredits(shop, activity.id)).toBe(200);
  expect((await readStock(shop, activity.id)).mysql).toBe(200);
  await applyLeftEffects({ orders: shop.orders, stock: shop.stock, log, config: { effectsAfterMs: 0 } })(
    signal,
  );
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 200, redis: 200, held: 0 });
});

test('a sweep ends at its budget, and the next one goes on', async () => {
  const activity = await openActivity(shop, 30);
  await placeOrders(shop, activity, 30, overdue);

  const first = await sweepOf({ batchMax: 10, budgetMs: 0 })(signal);
  expect(first).toEqual({ closed: 10, parked: 0, batches: 1, drained: false });
  const second = await sweepOf({ batchMax: 10 })(signal);
  expect(second).toMatchObject({ closed: 20, drained: true });
});

test('a sweep that is told to stop ends after its batch', async () => {
  const activity = await openActivity(shop, 30);
  await placeOrders(shop, activity, 30, overdue);
  const stopped = AbortSignal.abort();

  expect(await sweepOf({ batchMax: 10 })(stopped)).toMatchObject({ batches: 1, closed: 10, drained: false });
  await sweepOf()(signal);
});

test('with Redis away the sweep closes all the same and what Redis is owed stays in MySQL', async () => {
  const activity = await openActivity(shop, 40);
  await placeOrders(shop, activity, 40, overdue);
  const away = () => sleep(5).then(() => Promise.reject(new Error('Redis is away')));

  const sweep = closeOverdue({
    orders: shop.orders,
    stock: { release: away, confirm: away, reacquire: away, setCapacity: away },
    log,
    config: { ...config, batchMax: 10 },
  });

  expect(await sweep(signal)).toMatchObject({ closed: 40, drained: true });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 40, redis: 0, held: 40 });
  const left = await shop.orders.listPendingEffects({ olderThanMs: 0, limit: 100 });
  expect(left.flatMap(({ orderIds }) => orderIds)).toHaveLength(40);
});

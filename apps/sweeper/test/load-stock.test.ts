import { openStock } from '@lapse/stock';
import { captureLog, log, openActivity, openShop, placeOrders, readStock, type Shop } from '@lapse/test-shop';
import { createTestRedis, type TestRedis } from '@lapse/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { closeOverdue } from '../src/close-overdue.ts';
import { loadStock } from '../src/load-stock.ts';

const signal = new AbortController().signal;
const ahead = { remindInMs: 60_000, expireInMs: 120_000 };

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

test('case 19: Redis flushed mid-sale is rebuilt to 63 free of 100 with 37 held, and sales refuse meanwhile', async () => {
  const activity = await openActivity(shop, 100);
  const { ids } = await placeOrders(shop, activity, 37, ahead);
  await shop.flushRedis();
  const { stockRunId } = activity;
  const late = { activityId: activity.id, stockRunId, orderId: ids[0] ?? '', userId: 'x', quantity: 1 };
  expect((await shop.stock.reserve({ ...late, generation: activity.generation })).kind).toBe('not_ready');
  const captured = captureLog();

  const loaded = await loadStock({ orders: shop.orders, stock: shop.stock, log: captured.log })(signal);

  expect(loaded).toEqual([activity.id]);
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 63, redis: 63, held: 37 });
  expect(captured.lines).toHaveLength(1);
  expect(captured.lines[0]).toMatchObject({
    activityId: activity.id,
    before: null,
    available: 63,
    holds: 37,
  });
  // A hold taken before the loss carries the old generation, and is refused for ever.
  const again = await shop.stock.reserve({ ...late, generation: activity.generation });
  expect(again.kind).toBe('not_ready');
});

test('stock that is in order is left alone: not locked, no new generation, nothing logged', async () => {
  const activity = await openActivity(shop, 5);
  const captured = captureLog();
  const orders = {
    listActivities: shop.orders.listActivities,
    rebuildSnapshot: () => Promise.reject(new Error('the activity was locked')),
  };

  expect(await loadStock({ orders, stock: shop.stock, log: captured.log })(signal)).toEqual([]);

  expect((await shop.orders.readActivity(activity.id))?.generation).toBe(activity.generation);
  expect(captured.lines).toEqual([]);
});

test('stock loaded under another generation is rebuilt', async () => {
  const activity = await openActivity(shop, 5);
  // As after a load whose transaction was not committed.
  const uncommitted = {
    activityId: activity.id,
    generation: activity.generation + 1,
    capacity: 1,
    capacityVersion: 1,
    stock: 1,
    holds: [],
    formerBuyers: [],
  };
  await shop.stock.load(uncommitted, await shop.stock.readLoadToken(activity.id));

  expect(await loadStock({ orders: shop.orders, stock: shop.stock, log })(signal)).toEqual([activity.id]);

  const now = await shop.orders.readActivity(activity.id);
  expect(await shop.stock.readLoad(activity.id)).toMatchObject({ generation: now?.generation });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 5, redis: 5, held: 0 });
});

test('stock on another server than it was loaded into is rebuilt there, and sales resume by themselves', async () => {
  const activity = await openActivity(shop, 5);
  // As after a restart: the generation is the right one, the data may be older.
  await shop.query("UPDATE activity SET stock_run_id = 'before the restart' WHERE id = ?", [activity.id]);
  const restarted = (await shop.orders.readActivity(activity.id)) ?? activity;
  await expect(placeOrders(shop, restarted, 1, ahead)).rejects.toThrow('a hold was refused');

  expect(await loadStock({ orders: shop.orders, stock: shop.stock, log })(signal)).toEqual([activity.id]);

  const now = (await shop.orders.readActivity(activity.id)) ?? activity;
  expect(now).toMatchObject({ generation: activity.generation + 1, stockRunId: activity.stockRunId });
  await placeOrders(shop, now, 1, ahead);
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 4, redis: 4, held: 1 });
  expect(await loadStock({ orders: shop.orders, stock: shop.stock, log })(signal)).toEqual([]);
});

test('several sweepers at once rebuild a lost activity once', async () => {
  const activity = await openActivity(shop, 20);
  await placeOrders(shop, activity, 7, ahead);
  await shop.flushRedis();
  const generations = new Map(
    (await shop.orders.listActivities({ afterId: 0, limit: 100 })).map(({ id, generation }) => [
      id,
      generation,
    ]),
  );

  const loaded = await Promise.all(
    Array.from({ length: 4 }, () => loadStock({ orders: shop.orders, stock: shop.stock, log })(signal)),
  );

  expect(loaded.flat().sort()).toEqual([...generations.keys()].sort());
  for (const { id, generation } of await shop.orders.listActivities({ afterId: 0, limit: 100 })) {
    expect(generation).toBe((generations.get(id) ?? 0) + 1);
  }
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 13, redis: 13, held: 7 });
});

test('orders that close while Redis is empty are not credited a second time by the rebuild', async () => {
  const activity = await openActivity(shop, 10);
  await placeOrders(shop, activity, 4, { remindInMs: -300_000, expireInMs: -60_000 });
  await shop.flushRedis();
  const config = { graceMs: 15_000, batchMax: 500, budgetMs: 8_000 };
  const sweep = closeOverdue({ orders: shop.orders, stock: shop.stock, log, config });

  expect(await sweep(signal)).toMatchObject({ closed: 4 });
  await loadStock({ orders: shop.orders, stock: shop.stock, log })(signal);
  // The releases were refused while there was nothing to release from; now they are replayed.
  for (const { activityId, orderIds } of await shop.orders.listPendingEffects({
    olderThanMs: 0,
    limit: 100,
  })) {
    await shop.stock.release(activityId, orderIds);
  }

  expect(await readStock(shop, activity.id)).toEqual({ mysql: 10, redis: 10, held: 0 });
});

let other: TestRedis | undefined;
afterAll(() => other?.close());

test('a load that comes through after its transaction was lost and another sweeper has loaded puts nothing back', async () => {
  const activity = await openActivity(shop, 5);
  await shop.query("UPDATE activity SET stock_run_id = 'before the restart' WHERE id = ?", [activity.id]);
  // The MySQL connection ends in the middle of a load; another sweeper commits the same generation, buyers take
  // places, and only then the load comes through.
  let lost = false;
  const orders = {
    listActivities: shop.orders.listActivities,
    rebuildSnapshot: async (...[id, apply]: Parameters<typeof shop.orders.rebuildSnapshot>) => {
      if (id !== activity.id || lost) return shop.orders.rebuildSnapshot(id, apply);
      lost = true;
      const { capacity, generation } = activity;
      const snapshot = {
        activityId: id,
        capacity,
        capacityVersion: 1,
        available: capacity,
        holds: [],
        formerBuyers: [],
      };
      await apply({ ...snapshot, generation: generation + 1, stockRunId: 'before the restart' });
      throw new Error('MySQL is away');
    },
  };
  const stock = {
    readLoad: shop.stock.readLoad,
    readLoadToken: shop.stock.readLoadToken,
    load: async (...[snapshot, replaces]: Parameters<typeof shop.stock.load>) => {
      await loadStock({ orders: shop.orders, stock: shop.stock, log })(signal);
      await placeOrders(shop, (await shop.orders.readActivity(activity.id)) ?? activity, 2, ahead);
      return shop.stock.load(snapshot, replaces);
    },
  };

  await expect(loadStock({ orders, stock, log })(signal)).rejects.toThrow();

  expect(await readStock(shop, activity.id)).toEqual({ mysql: 3, redis: 3, held: 2 });
  expect(await loadStock({ orders: shop.orders, stock: shop.stock, log })(signal)).toEqual([]);
});

test('with Redis away the run fails, says so, and raises no generation', async () => {
  const activity = await openActivity(shop, 5);
  other = await createTestRedis();
  const away = await openStock({ url: other.url, commandTimeoutMs: 500 }, log);
  await away.close();

  await expect(loadStock({ orders: shop.orders, stock: away, log })(signal)).rejects.toThrow();

  expect((await shop.orders.readActivity(activity.id))?.generation).toBe(activity.generation);
});

test('an activity that cannot be read, as on a node that is away, keeps no other from being rebuilt', async () => {
  const broken = await openActivity(shop, 5);
  const healthy = await openActivity(shop, 5);
  for (const { id } of [broken, healthy]) await shop.redisCommand('del', `activity:{${id}}:gen`);
  const readLoad = (id: number) =>
    id === broken.id ? Promise.reject(new Error('its node is away')) : shop.stock.readLoad(id);

  await expect(
    loadStock({ orders: shop.orders, stock: { ...shop.stock, readLoad }, log })(signal),
  ).rejects.toThrow('at least one activity');

  expect(await readStock(shop, healthy.id)).toEqual({ mysql: 5, redis: 5, held: 0 });
  expect(await loadStock({ orders: shop.orders, stock: shop.stock, log })(signal)).toEqual([broken.id]);
});

test('a generation of another type counts as not loaded, and is rebuilt', async () => {
  const activity = await openActivity(shop, 5);
  await shop.redisCommand('del', `activity:{${activity.id}}:gen`);
  await shop.redisCommand('rpush', `activity:{${activity.id}}:gen`, 'no text');
  expect(await loadStock({ orders: shop.orders, stock: shop.stock, log })(signal)).toEqual([activity.id]);
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 5, redis: 5, held: 0 });
});

test('an activity that is over is looked at in the first run and then seldom; one that still sells, each time', async () => {
  const live = await openActivity(shop, 5);
  const over = await openActivity(shop, 5);
  await shop.query('UPDATE activity SET sale_ends_at = NOW(3) - INTERVAL 1 DAY WHERE id = ?', [over.id]);
  const read: number[] = [];
  const readLoad = (id: number) => {
    read.push(id);
    return shop.stock.readLoad(id);
  };
  const run = loadStock({ orders: shop.orders, stock: { ...shop.stock, readLoad }, log });
  const runs = 61;
  for (let count = 0; count < runs; count += 1) await run(signal);
  expect(read.filter((id) => id === live.id)).toHaveLength(runs);
  expect(read.filter((id) => id === over.id)).toHaveLength(2);
});

test('after a restart live sales do not wait behind those that are over: first in a run, and the rest is cut short', async () => {
  const over = [await openActivity(shop, 5), await openActivity(shop, 5)].map(({ id }) => id);
  const live = (await openActivity(shop, 5)).id;
  await shop.query('DELETE FROM activity WHERE id NOT IN (?)', [[...over, live]]);
  await shop.query('UPDATE activity SET sale_ends_at = NOW(3) - INTERVAL 1 DAY WHERE id IN (?)', [over]);
  await shop.flushRedis();
  // Each rebuild takes longer than a run has for those that are over.
  const now = performance.now.bind(performance);
  let passedMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
  const load: typeof shop.stock.load = (...args) => {
    passedMs += 5_000;
    return shop.stock.load(...args);
  };
  const run = loadStock({ orders: shop.orders, stock: { ...shop.stock, load }, log });
  try {
    expect(await run(signal)).toEqual([live, over[0]]);
    await shop.redisCommand('del', `activity:{${live}}:gen`);
    expect(await run(signal)).toEqual([live, over[1]]);
    expect(await run(signal)).toEqual([]);
  } finally {
    clock.mockRestore();
  }
});

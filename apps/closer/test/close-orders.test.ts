import { applyEffects } from '@lapse/order-flow';
import { sleep } from '@lapse/runtime';
import {
  countCredits,
  log,
  openActivity,
  openShop,
  placeOrders,
  readStock,
  type Shop,
} from '@lapse/test-shop';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeOrders } from '../src/close-orders.ts';
import { openReleaseLane, type ReleaseLane } from '../src/open-release-lane.ts';

const overdue = { remindInMs: -310_000, expireInMs: -5 };

let shop: Shop;
let lane: ReleaseLane;
let handle: ReturnType<typeof closeOrders>;

beforeAll(async () => {
  shop = await openShop();
  lane = openReleaseLane({ stock: shop.stock, orders: shop.orders, log });
  handle = closeOrders({ orders: shop.orders, releaseStock: lane.release, log });
});
afterAll(async () => {
  await lane.close();
  await shop.close();
});

function statusOf(id: string): Promise<string | undefined> {
  return shop.orders.readOrder(id).then((order) => order?.status);
}

test('a due order closes, and its stock is back in MySQL and in Redis', async () => {
  const activity = await openActivity(shop, 10);
  const { ids, closeDue: due } = await placeOrders(shop, activity, 4, overdue);
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 6, redis: 6, held: 4 });

  expect(await handle(due)).toEqual({ retry: [] });

  await waitUntil(async () => (await readStock(shop, activity.id)).redis === 10, { what: 'the release' });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 10, redis: 10, held: 0 });
  for (const id of ids) expect(await statusOf(id)).toBe('TIMEOUT_CLOSED');
  const left = () => shop.count("SELECT COUNT(*) FROM effect WHERE kind = 'release'");
  await waitUntil(async () => (await left()) === 0, { what: 'the effect row to go' });
});

test('case 13: every message three times and shuffled closes each order once', async () => {
  const activity = await openActivity(shop, 10);
  const { closeDue: due } = await placeOrders(shop, activity, 10, overdue);
  const deliveries = [...due, ...due, ...due].sort(() => Math.random() - 0.5);

  // Ten batches at once on ten connections' worth of contention: what is contended is asked again.
  const rest = await Promise.all(
    Array.from({ length: 10 }, (_, index) => handle(deliveries.slice(index * 3, index * 3 + 3))),
  );
  const again = new Set(rest.flatMap(({ retry }) => retry.map(({ orderId }) => orderId)));
  await sleep(50);
  await handle(due.filter(({ orderId }) => again.has(orderId)));

  await waitUntil(async () => (await readStock(shop, activity.id)).redis === 10, { what: 'the release' });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 10, redis: 10, held: 0 });
  expect(await countCredits(shop, activity.id)).toBe(10);
});

test('case 20: nothing closes before its deadline by the database clock, however early it is asked', async () => {
  const activity = await openActivity(shop, 5);
  const { ids, closeDue: due } = await placeOrders(shop, activity, 5, { remindInMs: 10, expireInMs: 60_000 });

  const { retry } = await handle(due);

  expect(retry.map(({ orderId }) => orderId).sort()).toEqual([...ids].sort());
  for (const { inMs } of retry) {
    expect(inMs).toBeGreaterThan(50_000);
    expect(inMs).toBeLessThanOrEqual(60_000);
  }
  expect(await statusOf(ids[0] ?? '')).toBe('PENDING');
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 0, redis: 0, held: 5 });
});

test('case 23: an order whose deadline moved is not closed, and waits until the new one', async () => {
  const activity = await openActivity(shop, 1);
  const { ids, closeDue: due } = await placeOrders(shop, activity, 1, overdue);
  await shop.query('UPDATE orders SET expires_at = NOW(3) + INTERVAL 300 SECOND WHERE activity_id = ?', [
    activity.id,
  ]);

  const { retry } = await handle(due);

  expect(retry).toHaveLength(1);
  expect(retry[0]?.orderId).toBe(ids[0]);
  expect(retry[0]?.inMs).toBeGreaterThan(290_000);
  const row = await shop.orders.rearm(2, ids);
  expect(row?.phase).toBe(2);
  expect(row?.orders[0]?.dueTime).toBeGreaterThan(shop.orders.now() + 290_000);
  expect(await statusOf(ids[0] ?? '')).toBe('PENDING');
});

test('case 2: killed after the commit and before the Redis step, the stock returns once', async () => {
  const activity = await openActivity(shop, 3);
  const { ids, closeDue: due } = await placeOrders(shop, activity, 3, overdue);
  // What a closer leaves when it dies there: the commit, and an effect that nobody applied.
  await shop.orders.closeExpired(ids, { cause: 'message' });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 3, redis: 0, held: 3 });

  // The message comes again: nothing to close, and no second effect.
  expect(await handle(due)).toEqual({ retry: [] });
  const effects = await shop.orders.listPendingEffects({ olderThanMs: 0, limit: 100 });
  const mine = effects.filter(({ activityId }) => activityId === activity.id);
  expect(mine.flatMap(({ orderIds }) => orderIds).sort()).toEqual([...ids].sort());
  for (let replay = 0; replay < 3; replay += 1) {
    await applyEffects({ stock: shop.stock, orders: shop.orders, log }, mine);
  }

  expect(await readStock(shop, activity.id)).toEqual({ mysql: 3, redis: 3, held: 0 });
  expect(await countCredits(shop, activity.id)).toBe(3);
});

test('a stock release that fails is not waited for: the order closes and the effect stays in MySQL', async () => {
  const activity = await openActivity(shop, 2);
  const { ids, closeDue: due } = await placeOrders(shop, activity, 2, overdue);
  const never = new Promise<never>(() => undefined);
  const stuck = openReleaseLane({
    stock: { release: () => never, confirm: () => never, reacquire: () => never, setCapacity: () => never },
    orders: shop.orders,
    log,
  });

  const startedAt = performance.now();
  await closeOrders({ orders: shop.orders, releaseStock: stuck.release, log })(due);

  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(await statusOf(ids[0] ?? '')).toBe('TIMEOUT_CLOSED');
  const left = await shop.orders.listPendingEffects({ olderThanMs: 0, limit: 100 });
  await applyEffects(
    { stock: shop.stock, orders: shop.orders, log },
    left.filter(({ activityId }) => activityId === activity.id),
  );
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 2, redis: 2, held: 0 });
});

test('a cancelled order and one that does not exist are done: nothing is retried, others close', async () => {
  const activity = await openActivity(shop, 3);
  const { ids, closeDue: due } = await placeOrders(shop, activity, 2, overdue);
  const [first] = due;
  if (!first) throw new Error('no order');
  await shop.orders.cancelOrder(first.orderId, first.userId);
  const unknown = { ...first, orderId: '01890000-0000-7000-8000-000000000000' };

  expect(await handle([unknown, ...due])).toEqual({ retry: [] });

  expect(await statusOf(ids[0] ?? '')).toBe('CANCELLED');
  expect(await statusOf(ids[1] ?? '')).toBe('TIMEOUT_CLOSED');
  expect((await readStock(shop, activity.id)).mysql).toBe(3);
  expect(await countCredits(shop, activity.id)).toBe(2);
});

test('case 28: a worker that was frozen and resumes finds its orders closed, and credits nothing', async () => {
  const activity = await openActivity(shop, 8);
  const { closeDue: due } = await placeOrders(shop, activity, 8, overdue);
  await shop.orders.closeOverdue({ graceMs: 0, limit: 500 });

  expect(await handle(due)).toEqual({ retry: [] });

  expect(await countCredits(shop, activity.id)).toBe(8);
  expect((await readStock(shop, activity.id)).mysql).toBe(8);
});

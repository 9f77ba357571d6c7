import type { OrphanHold } from '@lapse/order-repository';
import { log, openActivity, openShop, placeOrders, readStock, type Shop } from '@lapse/test-shop';
import { checkInvariants, describeVerdict, waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { releaseOrphans } from '../src/release-orphans.ts';

const signal = new AbortController().signal;
const orphan = '01890000-0000-7000-8000-000000000001';

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

function release(orphansAfterMs: number): Promise<number> {
  const config = { orphansAfterMs, markersKeptMs: 3_600_000 };
  return releaseOrphans({ orders: shop.orders, stock: shop.stock, log, config })(signal);
}

test('a hold whose order was never written is fenced and released; holds of real orders stay', async () => {
  // Its pay window is 15 minutes: the place does not wait for it.
  const activity = await openActivity(shop, 5);
  await placeOrders(shop, activity, 2, { remindInMs: 60_000, expireInMs: 120_000 });
  const { id: activityId, generation, stockRunId } = activity;
  const hold = { activityId, generation, stockRunId, userId: 'killed', quantity: 1 };
  await shop.stock.reserve({ ...hold, orderId: orphan });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 3, redis: 2, held: 3 });

  // Younger than our patience: it may still be written.
  expect(await release(60_000)).toBe(0);
  expect(await waitUntil(() => release(0), { what: 'the hold to be old enough', everyMs: 100 })).toBe(1);
  expect(await release(0)).toBe(0);

  expect(await readStock(shop, activity.id)).toEqual({ mysql: 3, redis: 3, held: 2 });
  expect((await shop.orders.readOrder(orphan))?.status).toBe('ABORTED');
  // The insert that comes after all is refused, and so is the reserve.
  expect((await shop.stock.reserve({ ...hold, orderId: orphan })).kind).toBe('released');
});

test('negative control: released without the fence, a hold that is written late has no place in Redis', async () => {
  const activity = await openActivity(shop, 5);
  const { id: activityId, generation, stockRunId } = activity;
  const order = { activityId, generation, userId: 'late', quantity: 1 };
  const id = '01890000-0000-7000-8000-00000000000f';
  await shop.stock.reserve({ ...order, stockRunId, orderId: id });
  const unfenced = { fenceOrphans: async (holds: readonly OrphanHold[]) => ({ fenced: idsOf(holds) }) };
  const orders = { ...shop.orders, ...unfenced };
  const config = { orphansAfterMs: 0, markersKeptMs: 3_600_000 };
  const run = () => releaseOrphans({ orders, stock: shop.stock, log, config })(signal);
  await waitUntil(run, { what: 'the hold to be old enough', everyMs: 100 });

  const inAnHour = new Date(Date.now() + 3_600_000);
  const { results } = await shop.orders.createOrders([
    {
      ...order,
      ...{ id, amountMinor: activity.priceMinor, currency: activity.currency, locale: 'en' },
      ...{ createdAt: new Date(), remindAt: inAnHour, expiresAt: inAnHour },
      ...{ idempotencyKey: 'late', requestHash: Buffer.alloc(32) },
    },
  ]);
  expect(results).toEqual([{ kind: 'created' }]);
  const verdict = await checkInvariants({
    mysqlUrl: shop.databaseUrl,
    redisUrl: shop.redisUrl,
    activityIds: [activityId],
    atRest: true,
  });
  expect(describeVerdict(verdict)).toMatch(/FAIL I3 .*PENDING in MySQL, in Redis with another state/);
});

function idsOf(holds: readonly OrphanHold[]): string[] {
  return holds.map(({ orderId }) => orderId);
}

test('a hold of an order that has ended is settled: Redis restarted with its older data', async () => {
  const activity = await openActivity(shop, 5);
  const { ids, closeDue } = await placeOrders(shop, activity, 2, { remindInMs: 60_000, expireInMs: 120_000 });
  const { available, generation, capacity } = (await shop.orders.readActivity(activity.id)) ?? activity;
  await shop.orders.cancelOrder(ids[0] ?? '', closeDue[0]?.userId ?? '');
  await shop.query("UPDATE orders SET status = 'PAID' WHERE id = ?", [
    Buffer.from((ids[1] ?? '').replaceAll('-', ''), 'hex'),
  ]);
  // Both holds as they were before the cancel and the payment; the effects that told Redis are gone.
  const older = {
    activityId: activity.id,
    generation,
    capacity,
    capacityVersion: 1,
    stock: available,
    holds: closeDue.map(({ orderId, userId }) => ({ orderId, userId, quantity: 1, state: 'held' as const })),
    formerBuyers: [],
  };
  await shop.stock.load(older, await shop.stock.readLoadToken(activity.id));
  await shop.query('DELETE FROM effect');
  await shop.query('UPDATE activity SET pay_within_ms = 0, remind_after_ms = 0 WHERE id = ?', [activity.id]);

  await waitUntil(() => release(0), { what: 'the hold to be old enough', everyMs: 100 });

  const counts = await shop.stock.readCounts(activity.id);
  expect(counts).toMatchObject({ stock: capacity - 1, held: 0, sold: 1, users: 1 });
});

test('a hold that is of no order is left to the audit, and keeps no other from being settled', async () => {
  const activity = await openActivity(shop, 5);
  await shop.query('UPDATE activity SET pay_within_ms = 0, remind_after_ms = 0');
  const { id: activityId, generation, stockRunId } = activity;
  const reserve = (orderId: string) =>
    shop.stock.reserve({ activityId, generation, stockRunId, orderId, userId: orderId, quantity: 1 });
  await reserve('not an order');
  await reserve('01890000-0000-7000-8000-00000000000A');
  await reserve('01890000-0000-7000-8000-000000000002');

  await waitUntil(() => release(0), { what: 'the hold to be old enough', everyMs: 100 });

  expect((await readStock(shop, activityId)).held).toBe(2);
});

test('an activity that cannot be looked at does not keep the others from being settled', async () => {
  const broken = await openActivity(shop, 5);
  const healthy = await openActivity(shop, 5);
  await shop.query('UPDATE activity SET pay_within_ms = 0, remind_after_ms = 0');
  await shop.redisCommand('del', `activity:{${broken.id}}:holds`);
  await shop.redisCommand('set', `activity:{${broken.id}}:holds`, 'no hash');
  const { id: activityId, generation, stockRunId } = healthy;
  const orderId = '01890000-0000-7000-8000-000000000003';
  await shop.stock.reserve({ activityId, generation, stockRunId, orderId, userId: 'killed', quantity: 1 });

  await waitUntil(
    async () => {
      await expect(release(0)).rejects.toThrow('at least one activity');
      return (await readStock(shop, healthy.id)).held === 0;
    },
    { what: 'the healthy activity to be settled', everyMs: 100 },
  );
});

test('an activity that is over is looked at in the first run and then seldom; one that still sells, each time', async () => {
  const live = await openActivity(shop, 5);
  const over = await openActivity(shop, 5);
  await shop.query('DELETE FROM activity WHERE id NOT IN (?)', [[live.id, over.id]]);
  await shop.query('UPDATE activity SET sale_ends_at = NOW(3) - INTERVAL 1 DAY WHERE id = ?', [over.id]);
  const scanned: number[] = [];
  const scanOld: typeof shop.stock.scanOld = (id, ages) => {
    scanned.push(id);
    return shop.stock.scanOld(id, ages);
  };
  const config = { orphansAfterMs: 60_000, markersKeptMs: 3_600_000 };
  const run = releaseOrphans({ orders: shop.orders, stock: { ...shop.stock, scanOld }, log, config });
  const runs = 21;
  for (let count = 0; count < runs; count += 1) await run(signal);
  expect(scanned.filter((id) => id === live.id)).toHaveLength(runs);
  expect(scanned.filter((id) => id === over.id)).toHaveLength(2);
});

test('a pass over those that are over keeps no live activity waiting, and goes on where it was cut short', async () => {
  const over = [(await openActivity(shop, 5)).id, (await openActivity(shop, 5)).id];
  const live = (await openActivity(shop, 5)).id;
  await shop.query('DELETE FROM activity WHERE id NOT IN (?)', [[...over, live]]);
  await shop.query('UPDATE activity SET sale_ends_at = NOW(3) - INTERVAL 1 DAY WHERE id IN (?)', [over]);
  const now = performance.now.bind(performance);
  let passedMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
  const scanned: number[] = [];
  const scanOld: typeof shop.stock.scanOld = (id, ages) => {
    scanned.push(id);
    if (id !== live) passedMs += 60_000;
    return shop.stock.scanOld(id, ages);
  };
  const config = { orphansAfterMs: 60_000, markersKeptMs: 3_600_000 };
  const run = releaseOrphans({ orders: shop.orders, stock: { ...shop.stock, scanOld }, log, config });
  try {
    for (let count = 0; count < 3; count += 1) await run(signal);
    expect(scanned).toEqual([live, over[0], live, over[1], live]);
  } finally {
    clock.mockRestore();
  }
});

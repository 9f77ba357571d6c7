import {
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

const signal = new AbortController().signal;
const overdue = { remindInMs: -360_000, expireInMs: -60_000 };

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

function replay(effectsAfterMs: number): Promise<number> {
  return applyLeftEffects({ orders: shop.orders, stock: shop.stock, log, config: { effectsAfterMs } })(
    signal,
  );
}

test('case 2: a close committed by a process that died gives Redis its stock once, replayed or not', async () => {
  const activity = await openActivity(shop, 6);
  const { ids } = await placeOrders(shop, activity, 6, overdue);
  await shop.orders.closeExpired(ids, { cause: 'message' });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 6, redis: 0, held: 6 });

  expect(await replay(0)).toBe(1);
  expect(await replay(0)).toBe(0);

  expect(await readStock(shop, activity.id)).toEqual({ mysql: 6, redis: 6, held: 0 });
  expect(await countCredits(shop, activity.id)).toBe(6);
});

test('two sweepers that replay the same effects at once credit them once', async () => {
  const activity = await openActivity(shop, 50);
  const { ids } = await placeOrders(shop, activity, 50, overdue);
  for (let at = 0; at < ids.length; at += 10) {
    await shop.orders.closeExpired(ids.slice(at, at + 10), { cause: 'message' });
  }

  await Promise.all([replay(0), replay(0), replay(0)]);

  expect(await readStock(shop, activity.id)).toEqual({ mysql: 50, redis: 50, held: 0 });
});

test('a payment that was committed and not told to Redis is confirmed, never released', async () => {
  const activity = await openActivity(shop, 2);
  const { ids } = await placeOrders(shop, activity, 1, { remindInMs: 60_000, expireInMs: 120_000 });
  await shop.orders.recordPayment({
    eventId: 'event-1',
    type: 'payment.captured',
    paymentId: 'payment-1',
    orderId: ids[0] ?? '',
    amountMinor: activity.priceMinor,
    currency: activity.currency,
    occurredAt: new Date(),
  });

  expect(await replay(0)).toBe(1);

  const counts = await shop.stock.readCounts(activity.id);
  expect(counts).toMatchObject({ stock: 1, held: 0, sold: 1 });
});

test('effects younger than the setting are left to the process that committed them', async () => {
  const activity = await openActivity(shop, 1);
  const { ids } = await placeOrders(shop, activity, 1, overdue);
  await shop.orders.closeExpired(ids, { cause: 'message' });

  expect(await replay(60_000)).toBe(0);
  expect((await readStock(shop, activity.id)).redis).toBe(0);
  expect(await replay(0)).toBe(1);
});

test('more effects than one read are all applied in one run', async () => {
  const activity = await openActivity(shop, 120);
  const { ids } = await placeOrders(shop, activity, 120, overdue);
  for (const id of ids) await shop.orders.closeExpired([id], { cause: 'message' });

  expect(await replay(0)).toBe(120);

  expect(await readStock(shop, activity.id)).toEqual({ mysql: 120, redis: 120, held: 0 });
});

import { log, openActivity, openShop, placeOrders, type Shop } from '@lapse/test-shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expireKeys } from '../src/expire-keys.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

test('keys of more than a batch of old orders are let go in one run, those of today stay', async () => {
  const activity = await openActivity(shop, 2_000);
  await placeOrders(shop, activity, 1_200, { remindInMs: 60_000, expireInMs: 90_000 });
  await shop.query('UPDATE orders SET created_at = NOW(3) - INTERVAL 25 HOUR');
  await placeOrders(shop, activity, 30, { remindInMs: 60_000, expireInMs: 90_000 });
  const run = expireKeys({ orders: shop.orders, log });
  expect(await run(new AbortController().signal)).toBe(1_200);
  expect(await shop.count('SELECT COUNT(*) FROM orders WHERE idempotency_key IS NOT NULL')).toBe(30);
  expect(await run(new AbortController().signal)).toBe(0);
});

test('a run that is told to stop leaves the rest to the next one', async () => {
  await shop.query('UPDATE orders SET idempotency_key = id, created_at = NOW(3) - INTERVAL 25 HOUR');
  await shop.query("UPDATE job_place SET place = REPEAT('\\0', 16)");
  const run = expireKeys({ orders: shop.orders, log });
  const stop = new AbortController();
  stop.abort();
  expect(await run(stop.signal)).toBe(0);
  expect(await run(new AbortController().signal)).toBe(1_230);
});

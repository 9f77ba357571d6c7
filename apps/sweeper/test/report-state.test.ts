import { registry } from '@lapse/runtime';
import { openActivity, openShop, placeOrders, type Shop } from '@lapse/test-shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reportState } from '../src/report-state.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

test('what waits in MySQL is in the metrics, and a scrape asks MySQL nothing', async () => {
  const activity = await openActivity(shop, 100);
  await placeOrders(shop, activity, 5, { remindInMs: 10, expireInMs: 50_000 });
  const late = await placeOrders(shop, activity, 3, { remindInMs: -70_000, expireInMs: -60_000 });
  const being = await placeOrders(shop, activity, 1, { remindInMs: -95_000, expireInMs: -90_000 });
  await shop.query('UPDATE orders SET settle_until = NOW(3) + INTERVAL 1 HOUR WHERE HEX(id) = ?', [
    being.ids[0]?.replaceAll('-', '').toUpperCase(),
  ]);
  await shop.orders.cancelOrder(late.ids[0] ?? '', `buyer ${late.ids[0]}`);
  await shop.orders.reportWorker({
    ...{ id: '00000000-0000-4000-8000-000000000001', kind: 'closer', host: 'h', pid: 1, version: '1' },
    ...{ uptimeMs: 1, heartbeatMs: 5_000, state: 'RUNNING', wanted: 'RUN', figures: {} },
  });
  await reportState({ orders: shop.orders })();
  const text = await registry.metrics();
  const valueAt = (series: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length),
    );
  expect(valueAt('lapse_orders{state="pending"}')).toBe(8);
  expect(valueAt('lapse_orders{state="cancelled"}')).toBe(1);
  expect(valueAt('lapse_orders_pending')).toBe(8);
  expect(valueAt('lapse_orders_overdue')).toBe(3);
  expect(valueAt('lapse_orders_due{within="60"}')).toBe(5);
  expect(valueAt('lapse_orders_due{within="900"}')).toBe(5);
  // 90 s is being paid, 60 s is nobody's but ours.
  expect(valueAt('lapse_orders_oldest_overdue_seconds')).toBeGreaterThanOrEqual(60);
  expect(valueAt('lapse_orders_oldest_overdue_seconds')).toBeLessThan(80);
  expect(valueAt('lapse_outbox_rows')).toBeGreaterThan(0);
  expect(valueAt('lapse_workers_alive{kind="closer"}')).toBe(1);
  expect(valueAt('lapse_workers_alive{kind="settler"}')).toBe(0);
  expect(Math.abs(valueAt('lapse_state_read_timestamp_seconds') - Date.now() / 1_000)).toBeLessThan(10);
});

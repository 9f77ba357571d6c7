import { log, openActivity, openShop, placeOrders, type Shop } from '@lapse/test-shop';
import { checkInvariants, describeVerdict } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { archiveFinished } from '../src/archive-finished.ts';

const dayMs = 86_400_000;
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

const run = (retainOrdersMs: number | null) =>
  archiveFinished({
    orders: shop.orders,
    log,
    config: { retainOrdersMs, retainSalesMs: null, retainArchiveMs: null, retainActionsMs: null },
  });
const live = () => new AbortController().signal;
const count = (table: string) => shop.count(`SELECT COUNT(*) FROM ${table}`);

/** Closed, their places back in both stores, their notices sent; and all of that three days ago. */
async function endedOrders(orders: number): Promise<void> {
  const activity = await openActivity(shop, 2_000);
  const { ids } = await placeOrders(shop, activity, orders, { remindInMs: -2, expireInMs: -1 });
  const { effects } = await shop.orders.closeExpired(ids, { cause: 'message' });
  await shop.stock.release(activity.id, ids);
  await shop.orders.markEffectsApplied(effects.map(({ id }) => id));
  while ((await shop.orders.expandClosedNotices(100)) > 0);
  await shop.query("UPDATE notification SET state = 'SENT', sent_at = NOW(3)");
  await shop.query(
    'UPDATE message_outbox SET sent_at = NOW(3) - INTERVAL 4 DAY, due_at = sent_at, swept_at = sent_at',
  );
  await shop.query(`UPDATE orders SET idempotency_key = NULL, created_at = created_at - INTERVAL 3 DAY,
    remind_at = remind_at - INTERVAL 3 DAY, expires_at = expires_at - INTERVAL 3 DAY, closed_at = closed_at - INTERVAL 3 DAY`);
  await shop.query('UPDATE order_transition SET at = at - INTERVAL 3 DAY');
}

test('without a policy nothing is taken away, with one all of it, in one run of many batches', async () => {
  await endedOrders(730);
  expect(await run(null)(live())).toBe(0);
  expect(await run(4 * dayMs)(live())).toBe(0);
  expect([await count('orders'), await count('order_archive')]).toEqual([730, 0]);

  const stop = new AbortController();
  stop.abort();
  expect(await run(2 * dayMs)(stop.signal)).toBe(0);

  expect(await run(2 * dayMs)(live())).toBe(730);
  for (const table of ['orders', 'order_transition', 'notification', 'message_outbox']) {
    expect([table, await count(table)]).toEqual([table, 0]);
  }
  expect(await count('order_archive')).toBe(730);
  expect(await run(2 * dayMs)(live())).toBe(0);
  const verdict = await checkInvariants({
    mysqlUrl: shop.databaseUrl,
    redisUrl: shop.redisUrl,
    atRest: true,
  });
  expect(verdict.failed, describeVerdict(verdict)).toEqual([]);
  expect(verdict.counts.units.credited).toBe(730);
});

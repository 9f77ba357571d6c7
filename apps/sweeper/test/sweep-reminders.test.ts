import { sendOutboxRows } from '@lapse/messaging';
import { openOrderRepository } from '@lapse/order-repository';
import {
  log,
  openActivity,
  openBroker,
  openShop,
  placeOrders,
  readStock,
  relay,
  type Shop,
} from '@lapse/test-shop';
import { checkInvariants, waitUntil } from '@lapse/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { closeOverdue } from '../src/close-overdue.ts';
import { sweepReminders } from '../src/sweep-reminders.ts';

const config = { remindGraceMs: 30_000, graceMs: 15_000, batchMax: 500, budgetMs: 8_000 };
const minuteMs = 60_000;
/** The reminder was due a minute ago, the deadline is in four. */
const unreminded = { remindInMs: -minuteMs, expireInMs: 4 * minuteMs };
const signal = new AbortController().signal;

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
// What one test leaves over would be another's.
afterEach(() => shop.query('UPDATE message_outbox SET swept_at = NOW(3) WHERE swept_at IS NULL'));
afterAll(() => shop.close());

function sweep(remindGraceMs = config.remindGraceMs, orders = shop.orders): Promise<number> {
  return sweepReminders({ orders, log, config: { ...config, remindGraceMs } })(signal);
}

function countReminders(activityId: number): Promise<number> {
  return shop.count(
    `SELECT COUNT(*) FROM notification n JOIN orders o ON o.id = n.order_id
     WHERE n.stage = 'REMINDER' AND o.activity_id = ?`,
    [activityId],
  );
}

/** Rows of phase 1 that a sweep still has to look at. */
function countUnswept(): Promise<number> {
  return shop.count('SELECT COUNT(*) FROM message_outbox WHERE phase = 1 AND swept_at IS NULL');
}

test('messages that the broker took and lost: 300 buyers are reminded and 300 orders close by the sweeps (case 10)', async () => {
  const activity = await openActivity(shop, 300);
  const broker = await openBroker();
  const { outbox } = await placeOrders(shop, activity, 300, { remindInMs: -31_000, expireInMs: 3_000 });
  // Really sent, and as lost as in a store that is wiped: nobody ever receives from these topics.
  const { sent } = await sendOutboxRows(broker.sender, outbox, relay);
  await shop.orders.markOutboxSent(sent);
  await broker.sender.close();

  expect(await sweep()).toBe(300);

  expect(await countReminders(activity.id)).toBe(300);
  const close = closeOverdue({
    orders: shop.orders,
    stock: shop.stock,
    log,
    config: { ...config, graceMs: 0 },
  });
  await waitUntil(async () => (await close(signal)).closed === 300, { what: 'one sweep to close all 300' });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 300, redis: 300, held: 0 });
  const verdict = await checkInvariants({
    mysqlUrl: shop.databaseUrl,
    redisUrl: shop.redisUrl,
    activityIds: [activity.id],
    atRest: false,
  });
  expect(verdict.failed).toEqual([]);
});

test('without the sweep those buyers hear nothing (control)', async () => {
  const activity = await openActivity(shop, 2);
  const { ids } = await placeOrders(shop, activity, 2, unreminded);
  await closeOverdue({ orders: shop.orders, stock: shop.stock, log, config })(signal);
  expect(await countReminders(activity.id)).toBe(0);
  expect((await shop.orders.readOrder(ids[0] ?? ''))?.remindedAt).toBeNull();
});

test('without its outbox row a reminder is lost: nothing else knows that it is due (control)', async () => {
  const activity = await openActivity(shop, 2);
  await placeOrders(shop, activity, 2, unreminded);
  await shop.query('DELETE FROM message_outbox');
  expect(await sweep()).toBe(0);
  expect(await countReminders(activity.id)).toBe(0);
});

test('a reminder inside its grace is left to its message', async () => {
  const activity = await openActivity(shop, 2);
  await placeOrders(shop, activity, 2, { remindInMs: -25_000, expireInMs: minuteMs });
  expect(await sweep()).toBe(0);
  expect(await sweep(20_000)).toBe(2);
});

test('an order that was paid, cancelled or reminded gets nothing, and its row is never looked at again', async () => {
  const activity = await openActivity(shop, 3);
  const { ids } = await placeOrders(shop, activity, 3, unreminded);
  const [paid = '', cancelled = '', reminded = ''] = ids;
  await shop.orders.recordPayment({
    eventId: `event-${paid}`,
    type: 'payment.captured',
    paymentId: `payment-${paid}`,
    orderId: paid,
    amountMinor: activity.priceMinor,
    currency: activity.currency,
    occurredAt: new Date(),
  });
  await shop.orders.cancelOrder(cancelled, `buyer ${cancelled}`);
  await shop.orders.remindPending([reminded]);

  expect(await sweep()).toBe(0);

  expect(await countReminders(activity.id)).toBe(1);
  expect(await countUnswept()).toBe(0);
});

test('four sweepers and the messages at once remind each of 200 orders once', async () => {
  const activity = await openActivity(shop, 200);
  const { ids } = await placeOrders(shop, activity, 200, unreminded);
  const repositories = await Promise.all(
    Array.from({ length: 4 }, () =>
      openOrderRepository({ url: shop.databaseUrl, poolMax: 2, queryTimeoutMs: 10_000 }, log),
    ),
  );
  try {
    const sweeps = repositories.map((orders) => sweep(config.remindGraceMs, orders));
    const message = shop.orders.remindPending(ids).then(({ reminded }) => reminded.length);
    const counts = await Promise.all([...sweeps, message]);
    // What one had locked the others passed over: the next run takes it, or finds it done.
    const rest = await sweep();
    expect(counts.reduce((sum, count) => sum + count, rest)).toBe(200);
  } finally {
    for (const orders of repositories) await orders.close();
  }
  expect(await countReminders(activity.id)).toBe(200);
  expect(await countUnswept()).toBe(0);
});

test('orders of one row that are due later are reminded later, not never', async () => {
  const activity = await openActivity(shop, 3);
  const { ids } = await placeOrders(shop, activity, 3, unreminded);
  const later = ids[2] ?? '';
  const bytes = Buffer.from(later.replaceAll('-', ''), 'hex');
  await shop.query('UPDATE orders SET remind_at = NOW(3) + INTERVAL 2 SECOND WHERE id = ?', [bytes]);

  expect(await sweep(0)).toBe(2);
  expect(await countUnswept()).toBe(1);
  expect(await sweep(0)).toBe(0);
  await waitUntil(async () => (await sweep(0)) === 1, { what: 'the later reminder', timeoutMs: 10_000 });
  expect(await countUnswept()).toBe(0);
});

test('more rows than one call takes are swept in one run', async () => {
  const activity = await openActivity(shop, 120);
  for (let index = 0; index < 120; index += 1) await placeOrders(shop, activity, 1, unreminded);
  expect(await sweep()).toBe(120);
  expect(await countUnswept()).toBe(0);
});

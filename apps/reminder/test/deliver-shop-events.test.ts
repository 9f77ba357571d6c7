import { shopEvent } from '@lapse/contracts';
import { openShopChannel } from '@lapse/notifications';
import type { ShopConfig } from '@lapse/runtime';
import {
  log,
  noAnswer,
  openActivity,
  openBroker,
  openShop,
  outcomesOf,
  placeOrders,
  type Shop,
  type TestBroker,
} from '@lapse/test-shop';
import { spawnApp, waitUntil } from '@lapse/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { deliverShopEvents } from '../src/deliver-shop-events.ts';
import { openReceiver, type Receiver, receiverSecret } from './receiver.ts';

const signal = new AbortController().signal;
const operator = { actor: 'ann', reason: 'the shop is back', dryRun: false };

let shop: Shop;
let broker: TestBroker;
let receiver: Receiver;
let config: ShopConfig;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  shop = await openShop({ shopEvents: true });
  broker = await openBroker();
  receiver = await openReceiver();
  config = {
    webhookUrl: receiver.url,
    webhookSecret: receiverSecret,
    timeoutMs: 500,
    attemptsMax: 5,
    everyMs: 500,
    batchMax: 20,
    atOnceMax: 8,
  };
});
beforeEach(async () => {
  await shop.query('DELETE FROM shop_event');
  await shop.query("DELETE FROM effect WHERE kind = 'shop_event'");
  receiver.notices.length = 0;
  receiver.requests = 0;
  receiver.answer = 204;
});
afterAll(async () => {
  for (const close of closers) await close();
  await receiver.close();
  await broker.sender.close();
  await shop.close();
});

async function deliver(settings: Partial<ShopConfig> = {}, until = signal): Promise<void> {
  const merged = { ...config, ...settings } as ShopConfig;
  const channel = await openShopChannel(merged, { allowPrivate: ['127.0.0.1'] });
  if (!channel) throw new Error('the channel is configured');
  closers.push(channel.close);
  await deliverShopEvents({ orders: shop.orders, channel, config: merged, log })(until);
}

/** Orders that were created, reminded, and then cancelled. */
async function livedOrders(count: number): Promise<string[]> {
  const activity = await openActivity(shop, count);
  const placed = await placeOrders(shop, activity, count, { remindInMs: -5, expireInMs: 300_000 });
  await shop.orders.remindPending(placed.ids);
  for (const { orderId, userId } of placed.remindDue) await shop.orders.cancelOrder(orderId, userId);
  return placed.ids;
}

/** Types that arrived, by order, each event counted when it came first. */
function arrived(): Map<string, string[]> {
  const seen = new Set<string>();
  const byOrder = new Map<string, string[]>();
  for (const { id, type, data } of receiver.notices) {
    if (seen.has(id)) continue;
    seen.add(id);
    const orderId = String(data.orderId);
    byOrder.set(orderId, [...(byOrder.get(orderId) ?? []), type]);
  }
  return byOrder;
}

const history = ['order.created', 'order.reminded', 'order.cancelled'];
const passWaits = () => shop.query('UPDATE shop_event SET next_attempt_at = NOW(3)');
const countIn = (state: string) => shop.count('SELECT COUNT(*) FROM shop_event WHERE state = ?', [state]);

test('each order tells the shop its history, signed, once and in order', async () => {
  const ids = await livedOrders(30);
  // A busy machine may take its time: an event that is given up comes again, and would be counted twice.
  await deliver({ timeoutMs: 30_000 });
  expect(receiver.notices).toHaveLength(90);
  expect(arrived()).toEqual(new Map(ids.map((id) => [id, history])));
  expect(receiver.notices[0]?.data).toMatchObject({ status: 'PENDING', quantity: 1, currency: 'CNY' });
  await deliver();
  expect(receiver.notices).toHaveLength(90);
});

test('an event is what the API description says, and its sequence rises along the order', async () => {
  const [id = ''] = await livedOrders(1);
  await deliver({ timeoutMs: 30_000 });
  const events = receiver.notices.map(({ body }) => shopEvent.parse(body));
  expect(events.map(({ type, data }) => [type, data.orderId, data.status, data.sequence])).toEqual([
    ['order.created', id, 'PENDING', 1_000],
    ['order.reminded', id, 'PENDING', 1_100],
    ['order.cancelled', id, 'CANCELLED', 2_000],
  ]);
});

test('two deliverers and a shop that fails at random: every event arrives, no order is told out of order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.constantFrom(204, 204, 500, 429)), async (answers) => {
      await shop.query('DELETE FROM shop_event');
      receiver.notices.length = 0;
      receiver.answer = () => answers.next().value ?? 204;
      const ids = await livedOrders(5);
      for (let round = 0; (await countIn('SENT')) < 15; round += 1) {
        if (round > 100) throw new Error('not delivered in 100 rounds');
        await Promise.all([deliver({ attemptsMax: 1_000 }), deliver({ attemptsMax: 1_000 })]);
        await passWaits();
      }
      expect(receiver.notices).toHaveLength(15);
      expect(arrived()).toEqual(new Map(ids.map((id) => [id, history])));
    }),
    { numRuns: 8 },
  );
}, 60_000);

test('negative control: without the hold a failed event is overtaken by a later one of its order', async () => {
  const [id = ''] = await livedOrders(1);
  await shop.orders.expandShopEvents(10);
  await shop.query("UPDATE shop_event SET state = 'WAITING'");
  receiver.answer = ({ type }) => (type === 'order.created' ? 500 : 204);
  await deliver();
  receiver.answer = 204;
  await passWaits();
  await deliver();
  expect(arrived().get(id)).not.toEqual(history);
});

test('a parked event keeps only its own order waiting, and goes out again, with those behind it, when asked', async () => {
  const [bad = '', ...good] = await livedOrders(3);
  receiver.answer = ({ data }) => (data.orderId === bad ? 500 : 204);
  for (let round = 0; round < 6; round += 1) {
    await deliver();
    await passWaits();
  }
  expect(arrived()).toEqual(new Map(good.map((id) => [id, history])));
  const parked = await shop.orders.listUndelivered('shop_event', { afterId: 0, limit: 10 });
  expect(parked).toMatchObject([{ orderId: bad, what: 'created', attempts: 5 }]);
  const ids = parked.map(({ id }) => id);

  receiver.answer = 204;
  expect(
    await outcomesOf(
      shop.orders.resendUndelivered('shop_event', ids, { ...operator, dryRun: true }, noAnswer),
    ),
  ).toMatchObject([{ kind: 'resent', changed: false }]);
  await deliver();
  expect(arrived().has(bad)).toBe(false);
  expect(
    await outcomesOf(shop.orders.resendUndelivered('shop_event', [...ids, 0], operator, noAnswer)),
  ).toMatchObject([
    { kind: 'resent', changed: true, orderId: bad, what: 'created' },
    { kind: 'not_found', changed: false },
  ]);
  expect(
    await outcomesOf(shop.orders.resendUndelivered('shop_event', ids, operator, noAnswer)),
  ).toMatchObject([{ kind: 'not_parked', state: 'WAITING', changed: false }]);
  await deliver();
  expect(arrived().get(bad)).toEqual(history);
  expect(
    await shop.query(
      "SELECT CONVERT(target USING utf8mb4) AS target FROM operator_action WHERE action = 'resend_shop_event'",
    ),
  ).toEqual([{ target: bad }]);
});

test('a shop that hangs on one order holds up that order alone', async () => {
  const [bad = '', ...good] = await livedOrders(4);
  receiver.answer = ({ data }) => (data.orderId === bad ? null : 204);
  // Far more than the others need, on a busy machine too.
  await deliver({ timeoutMs: 3_000 });
  expect(arrived()).toEqual(new Map(good.map((id) => [id, history])));
  receiver.answer = 204;
  await passWaits();
  await deliver();
  expect(arrived().get(bad)).toEqual(history);
});

test('an event that killed each process that took it is parked, not tried for ever', async () => {
  const [id = ''] = await livedOrders(1);
  await shop.orders.expandShopEvents(10);
  await shop.query("UPDATE shop_event SET attempts = 5 WHERE state = 'WAITING'");
  await deliver();
  expect(receiver.requests).toBe(0);
  expect(await shop.orders.listUndelivered('shop_event', { afterId: 0, limit: 10 })).toMatchObject([
    { orderId: id, lastError: expect.stringContaining('never finished') },
  ]);
});

test('killed after sending and before noting it: sent again under the same id, and the order goes on in order', async () => {
  const env = {
    ...broker.env,
    LAPSE_MYSQL_URL: shop.databaseUrl,
    LAPSE_SHOP_WEBHOOK_URL: receiver.url,
    LAPSE_SHOP_WEBHOOK_SECRET: receiverSecret,
    LAPSE_WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
    LAPSE_SHOP_EVERY: '100ms',
  };
  const root = new URL('..', import.meta.url);
  const ids = await livedOrders(2);
  const killed = spawnApp(root, { ...env, LAPSE_CRASH_AT: 'shop-event.sent@2' });
  expect(await killed.exited).toEqual({ code: null, signal: 'SIGKILL' });
  expect(receiver.notices.length).toBeGreaterThanOrEqual(1);
  // Its lease would end by itself; the test does not wait for it.
  await shop.query('UPDATE shop_event SET claimed_until = NOW(3) WHERE claimed_until IS NOT NULL');

  const second = spawnApp(root, env);
  await waitUntil(async () => (await countIn('SENT')) === 6, { what: 'all six events', timeoutMs: 30_000 });
  second.kill('SIGTERM');
  expect(await second.exited).toEqual({ code: 0, signal: null });
  expect(arrived()).toEqual(new Map(ids.map((id) => [id, history])));
  expect(receiver.notices.length).toBeGreaterThan(6);
}, 90_000);

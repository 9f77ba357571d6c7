import { buyerNotice } from '@lapse/contracts';
import { DeliveryError, openNotifier } from '@lapse/notifications';
import type { NotifyConfig } from '@lapse/runtime';
import {
  captureLog,
  log,
  noAnswer,
  openActivity,
  openShop,
  outcomesOf,
  placeOrders,
  readStock,
  type Shop,
} from '@lapse/test-shop';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { deliverNotices } from '../src/deliver-notices.ts';
import { deliveryRetryInMs } from '../src/delivery-retry.ts';
import { openReceiver, type Receiver, receiverSecret } from './receiver.ts';

const due = { remindInMs: -5, expireInMs: 300_000 };
const signal = new AbortController().signal;
const loopback = { allowPrivate: ['127.0.0.1'] };

let shop: Shop;
let receiver: Receiver;
let config: NotifyConfig;

beforeAll(async () => {
  shop = await openShop();
  receiver = await openReceiver();
  config = {
    channel: 'webhook',
    smtpTls: 'required',
    webhookUrl: receiver.url,
    webhookSecret: receiverSecret,
    timeoutMs: 500,
    attemptsMax: 10,
    payUrl: 'https://shop.example.com/pay/{orderId}',
    everyMs: 500,
    batchMax: 100,
  };
});
beforeEach(async () => {
  await shop.query('DELETE FROM notification');
  receiver.notices.length = 0;
  receiver.answer = 204;
});
afterAll(async () => {
  await receiver.close();
  await shop.close();
});

async function deliver(settings: Partial<NotifyConfig> = {}, to = log, until = signal): Promise<void> {
  const merged = { ...config, ...settings } as NotifyConfig;
  await deliverNotices({
    orders: shop.orders,
    notifier: await openNotifier(merged, loopback, to),
    config: merged,
    log: to,
  })(until);
}

function states(): Promise<Record<string, unknown>[]> {
  return shop.query('SELECT stage, state, attempts, last_error FROM notification ORDER BY id');
}

/** Skip the wait that a failed notice has to serve. */
function passWaits(): Promise<unknown> {
  return shop.query('UPDATE notification SET next_attempt_at = NOW(3)');
}

test("a reminder goes out signed, in the buyer's language, with the remaining time and the pay link", async () => {
  const activity = await openActivity(shop, 2);
  const english = await placeOrders(shop, activity, 1, { ...due, locale: 'en' });
  const chinese = await placeOrders(shop, activity, 1, { ...due, locale: 'zh-CN' });
  await shop.orders.remindPending([...english.ids, ...chinese.ids]);

  await deliver();

  expect(receiver.notices).toHaveLength(2);
  const byOrder = new Map(receiver.notices.map((notice) => [notice.data.orderId, notice]));
  const first = byOrder.get(english.ids[0]);
  const second = byOrder.get(chinese.ids[0]);
  expect(first?.type).toBe('notice.reminder');
  // What the API's description says of a notice.
  for (const { body } of receiver.notices) expect(buyerNotice.parse(body)).toEqual(body);
  expect(first?.data.payLink).toBe(`https://shop.example.com/pay/${english.ids[0]}`);
  expect(Number(first?.data.remainingMs)).toBeGreaterThan(290_000);
  expect(Number(first?.data.remainingMs)).toBeLessThanOrEqual(300_000);
  expect(String(first?.data.text)).toMatch(/closes in (5 min|4 min 5\d sec)/);
  expect(String(second?.data.text)).toMatch(/[45] ?分/);
  expect(await states()).toEqual([
    { stage: 'REMINDER', state: 'SENT', attempts: 1, last_error: null },
    { stage: 'REMINDER', state: 'SENT', attempts: 1, last_error: null },
  ]);
  await deliver();
  expect(receiver.notices).toHaveLength(2);
});

test('a reminder of an order that was cancelled meanwhile is skipped, never sent', async () => {
  const activity = await openActivity(shop, 1);
  const { ids, remindDue: named } = await placeOrders(shop, activity, 1, due);
  await shop.orders.remindPending(ids);
  await shop.orders.cancelOrder(ids[0] ?? '', named[0]?.userId ?? '');

  await deliver();

  expect(receiver.notices).toEqual([]);
  expect(await states()).toMatchObject([{ state: 'SKIPPED' }]);
});

test('a reminder that would arrive after the deadline is skipped', async () => {
  const activity = await openActivity(shop, 1);
  const { ids } = await placeOrders(shop, activity, 1, { remindInMs: -5, expireInMs: 300 });
  await shop.orders.remindPending(ids);
  await waitUntil(
    () => shop.count('SELECT COUNT(*) FROM orders WHERE expires_at < NOW(3) - INTERVAL 50000 MICROSECOND'),
    {
      what: 'the deadline to pass',
    },
  );

  await deliver();

  expect(receiver.notices).toEqual([]);
  expect(await states()).toMatchObject([{ state: 'SKIPPED' }]);
});

test('a reminder whose status was read a while ago is checked again before it goes out', async () => {
  const activity = await openActivity(shop, 20);
  const { ids, remindDue: named } = await placeOrders(shop, activity, 9, due);
  await shop.orders.remindPending(ids);
  // The first eight hang until their timeout; the ninth is paid or cancelled meanwhile.
  receiver.answer = null;
  const delivering = deliver({ timeoutMs: 1_000 });
  await waitUntil(() => shop.count('SELECT COUNT(*) FROM notification WHERE attempts = 1'), {
    what: 'the claim',
  });
  for (const { orderId, userId } of named) await shop.orders.cancelOrder(orderId, userId);
  await delivering;

  const after = await states();
  expect(after.filter(({ state }) => state === 'SKIPPED')).toHaveLength(1);
  expect(after.filter(({ state }) => state === 'WAITING')).toHaveLength(8);
});

test('with the receiver down the order closes on time, and its one notice comes later (case 24)', async () => {
  const activity = await openActivity(shop, 1);
  const { ids } = await placeOrders(shop, activity, 1, { remindInMs: -300_000, expireInMs: -5 });
  receiver.answer = 503;
  const startedAt = performance.now();
  const { closed } = await shop.orders.closeExpired(ids, { cause: 'message' });
  expect(closed).toHaveLength(1);
  expect(performance.now() - startedAt).toBeLessThan(1_000);

  await deliver();
  expect(await states()).toMatchObject([{ stage: 'CLOSED', state: 'WAITING', attempts: 1 }]);
  await deliver();
  expect(await states()).toMatchObject([{ attempts: 1 }]);

  receiver.answer = 204;
  await passWaits();
  await deliver();
  await deliver();
  expect(receiver.notices).toHaveLength(1);
  expect(receiver.notices[0]).toMatchObject({ type: 'notice.closed', data: { orderId: ids[0] } });
  expect(buyerNotice.parse(receiver.notices[0]?.body)).toEqual(receiver.notices[0]?.body);
  expect(await states()).toMatchObject([{ stage: 'CLOSED', state: 'SENT', attempts: 2 }]);
});

test('while deliveries hang an order closes and its stock is back before any of them ends (case 24)', async () => {
  const activity = await openActivity(shop, 9);
  const { ids } = await placeOrders(shop, activity, 8, due);
  const { ids: closing } = await placeOrders(shop, activity, 1, { remindInMs: -300_000, expireInMs: -5 });
  await shop.orders.remindPending(ids);
  receiver.answer = null;
  receiver.requests = 0;
  const events: string[] = [];
  const delivering = deliver({ timeoutMs: 5_000 }).then(() => events.push('deliveries ended'));
  // All eight lanes hang.
  await waitUntil(() => receiver.requests === 8, { what: 'eight deliveries to hang' });
  const { closed, effects } = await shop.orders.closeExpired(closing, { cause: 'message' });
  events.push(`closed ${closed.length}`);
  for (const { activityId, orderIds } of effects) await shop.stock.release(activityId, [...orderIds]);
  expect(await readStock(shop, activity.id)).toMatchObject({ mysql: 1, redis: 1 });
  events.push('stock is back');
  receiver.answer = 204;
  await delivering;
  await passWaits();
  await deliver();
  expect(events).toEqual(['closed 1', 'stock is back', 'deliveries ended']);
  expect(receiver.notices.filter(({ data }) => data.orderId === closing[0])).toHaveLength(1);
});

test('an order that a late payment took back is not told that it closed', async () => {
  const activity = await openActivity(shop, 1);
  const { ids } = await placeOrders(shop, activity, 1, { remindInMs: -300_000, expireInMs: -5 });
  await shop.orders.closeExpired(ids, { cause: 'message' });
  await shop.query("UPDATE orders SET status = 'PAID', closed_at = NULL WHERE status = 'TIMEOUT_CLOSED'");

  await deliver();

  expect(receiver.notices).toEqual([]);
  expect(await states()).toMatchObject([{ stage: 'CLOSED', state: 'SKIPPED' }]);
});

test('a notice that is refused for good is parked at its first try, and goes out when asked for again', async () => {
  const activity = await openActivity(shop, 1);
  const { ids } = await placeOrders(shop, activity, 1, due);
  await shop.orders.remindPending(ids);
  const refuse = async () => {
    throw new DeliveryError('no such mailbox', { status: 550, permanent: true });
  };
  await deliverNotices({ orders: shop.orders, notifier: { send: refuse, sendMsMax: 500 }, config, log })(
    signal,
  );
  expect(await states()).toMatchObject([{ state: 'PARKED', attempts: 1, last_error: 'no such mailbox' }]);

  const parked = await shop.orders.listUndelivered('notification', { afterId: 0, limit: 10 });
  expect(parked).toMatchObject([{ orderId: ids[0], what: 'REMINDER', attempts: 1 }]);
  const numbers = parked.map(({ id }) => id);
  const request = { actor: 'ann', reason: 'the mailbox is there now' };
  await outcomesOf(
    shop.orders.resendUndelivered('notification', numbers, { ...request, dryRun: true }, noAnswer),
  );
  await deliver();
  expect(receiver.notices).toEqual([]);
  expect(
    await outcomesOf(
      shop.orders.resendUndelivered('notification', numbers, { ...request, dryRun: false }, noAnswer),
    ),
  ).toMatchObject([{ kind: 'resent', changed: true, orderId: ids[0] }]);
  await deliver();
  expect(receiver.notices).toHaveLength(1);
  expect(await states()).toMatchObject([{ state: 'SENT', attempts: 2 }]);
});

test('a notice that is sent again by hand has all its tries again', async () => {
  const activity = await openActivity(shop, 1);
  const { ids } = await placeOrders(shop, activity, 1, due);
  await shop.orders.remindPending(ids);
  receiver.answer = 500;
  for (let round = 0; round < 3; round += 1) {
    await deliver({ attemptsMax: 2 });
    await passWaits();
  }
  const [parked] = await shop.orders.listUndelivered('notification', { afterId: 0, limit: 1 });
  await outcomesOf(
    shop.orders.resendUndelivered(
      'notification',
      [parked?.id ?? 0],
      { actor: 'ann', reason: 'again', dryRun: false },
      noAnswer,
    ),
  );
  await deliver({ attemptsMax: 2 });
  expect(await states()).toMatchObject([{ state: 'WAITING', attempts: 3 }]);
  await passWaits();
  await deliver({ attemptsMax: 2 });
  expect(await states()).toMatchObject([{ state: 'PARKED', attempts: 4 }]);
});

test('a notice that fails attemptsMax times is parked with its reason, and logged at error once', async () => {
  const activity = await openActivity(shop, 1);
  const { ids } = await placeOrders(shop, activity, 1, due);
  await shop.orders.remindPending(ids);
  receiver.answer = 500;
  const captured = captureLog();
  for (let attempt = 0; attempt < 4; attempt += 1) {
    await deliver({ attemptsMax: 3 }, captured.log);
    await passWaits();
  }

  expect(await states()).toMatchObject([{ state: 'PARKED', attempts: 3 }]);
  const errors = captured.lines.filter(({ level }) => level === 'error');
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatchObject({ orderId: ids[0], stage: 'REMINDER', tries: 3 });
});

test('two reminders at once send each notice once', async () => {
  const activity = await openActivity(shop, 60);
  const { ids } = await placeOrders(shop, activity, 60, due);
  await shop.orders.remindPending(ids);

  await Promise.all([deliver({ batchMax: 10 }), deliver({ batchMax: 10 }), deliver({ batchMax: 10 })]);

  expect(receiver.notices).toHaveLength(60);
  expect(new Set(receiver.notices.map(({ id }) => id)).size).toBe(60);
});

test('a process that stood still past its lease leaves its notices to others, and sends none twice', async () => {
  const activity = await openActivity(shop, 5);
  const { ids } = await placeOrders(shop, activity, 5, due);
  await shop.orders.remindPending(ids);
  // Frozen right after its claim; meanwhile the lease ends, and another reminder delivers all five.
  const realNow = performance.now.bind(performance);
  const frozenClaim = async (options: Parameters<typeof shop.orders.claimNotifications>[0]) => {
    const jobs = await shop.orders.claimNotifications(options);
    await shop.query('UPDATE notification SET claimed_until = NOW(3)');
    await deliver();
    vi.spyOn(performance, 'now').mockImplementation(() => realNow() + options.leaseMs);
    return jobs;
  };
  const orders = { ...shop.orders, claimNotifications: frozenClaim };
  try {
    const notifier = await openNotifier(config, loopback, log);
    await deliverNotices({ orders, notifier, config, log })(signal);
  } finally {
    vi.restoreAllMocks();
  }

  expect(receiver.notices).toHaveLength(5);
  expect(await states()).toMatchObject(Array.from({ length: 5 }, () => ({ state: 'SENT', attempts: 2 })));
});

test('a stop hands back what was claimed and not begun, so that it waits for no lease', async () => {
  const activity = await openActivity(shop, 5);
  const { ids } = await placeOrders(shop, activity, 5, due);
  await shop.orders.remindPending(ids);

  await deliver({}, log, AbortSignal.abort());
  expect(receiver.notices).toEqual([]);
  await deliver();

  expect(receiver.notices).toHaveLength(5);
});

test('ten attempts span more than ten minutes whatever chance does, and a wait never exceeds ten minutes', () => {
  let leastMs = 0;
  for (let attempts = 1; attempts < 10; attempts += 1) {
    leastMs += deliveryRetryInMs(attempts, () => 0);
    expect(deliveryRetryInMs(attempts, () => 1)).toBeLessThanOrEqual(600_000);
  }
  expect(leastMs).toBeGreaterThan(600_000);
});

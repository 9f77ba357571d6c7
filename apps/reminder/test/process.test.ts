import { sendOutboxRows } from '@lapse/messaging';
import {
  directWorker,
  findWorker,
  openActivity,
  openBroker,
  openShop,
  placeOrders,
  relay,
  type Shop,
  type TestBroker,
} from '@lapse/test-shop';
import { spawnApp, waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReceiver, type Receiver, receiverSecret } from './receiver.ts';

const root = new URL('..', import.meta.url);

let shop: Shop;
let broker: TestBroker;
let receiver: Receiver;
let env: Record<string, string>;

beforeAll(async () => {
  shop = await openShop();
  broker = await openBroker();
  receiver = await openReceiver();
  env = { ...broker.env, LAPSE_MYSQL_URL: shop.databaseUrl };
});
afterAll(async () => {
  await receiver.close();
  await broker.sender.close();
  await shop.close();
});

test('a variable that is missing, out of range or misspelt ends the start with 1, and is named', async () => {
  const app = spawnApp(root, {
    ...env,
    LAPSE_NOTIFY_CHANNEL: 'webhook',
    LAPSE_REMIND_BATCH_MAX: 'many',
    LAPSE_NOTIFY_TIMEOUTS: '5s',
  });

  expect(await app.exited).toEqual({ code: 1, signal: null });

  const output = app.output();
  expect(output).toContain('LAPSE_NOTIFY_WEBHOOK_URL');
  expect(output).toMatch(/LAPSE_REMIND_BATCH_MAX.*many/);
  expect(output).toMatch(/LAPSE_NOTIFY_TIMEOUTS.*LAPSE_NOTIFY_TIMEOUT\b/);
});

test('a receiver that never answers delays no reminder and no closing message (case 24)', async () => {
  receiver.answer = null;
  const app = spawnApp(root, {
    ...env,
    LAPSE_NOTIFY_CHANNEL: 'webhook',
    LAPSE_NOTIFY_WEBHOOK_URL: receiver.url,
    LAPSE_NOTIFY_WEBHOOK_SECRET: receiverSecret,
    LAPSE_NOTIFY_TIMEOUT: '2s',
    LAPSE_WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
  });
  await app.waitForOutput('"started"');
  const activity = await openActivity(shop, 100);
  const late = async () => {
    const sql = 'SELECT TIMESTAMPDIFF(MICROSECOND, remind_at, reminded_at) DIV 1000 AS late FROM orders';
    return (await shop.query(sql)).map((row) => (row.late === null ? null : Number(row.late)));
  };

  // Two waves: when the second is due, every delivery of the first hangs.
  for (const wave of [1, 2]) {
    const { outbox } = await placeOrders(shop, activity, 50, { remindInMs: 2_000, expireInMs: 600_000 });
    const { sent } = await sendOutboxRows(broker.sender, outbox, relay);
    await shop.orders.markOutboxSent(sent);
    await waitUntil(async () => (await late()).filter((ms) => ms !== null).length === wave * 50, {
      what: `wave ${wave} to be reminded`,
    });
  }

  const lateness = (await late()).map(Number).sort((a, b) => a - b);
  process.stdout.write(`receiver hangs: reminded ${lateness[0]}-${lateness.at(-1)} ms late\n`);
  expect(lateness[0]).toBeGreaterThanOrEqual(0);
  await waitUntil(
    async () =>
      (await shop.count('SELECT COUNT(*) FROM message_outbox WHERE phase = 2 AND sent_at IS NOT NULL')) >= 2,
    { what: 'both closing messages to be sent' },
  );
  expect(await shop.count("SELECT COUNT(*) FROM notification WHERE state = 'SENT'")).toBe(0);

  receiver.answer = 204;
  await waitUntil(() => receiver.notices.length > 0, { what: 'the first notice', timeoutMs: 20_000 });
  app.kill('SIGTERM');
  expect(await app.exited).toEqual({ code: 0, signal: null });
}, 60_000);

test('told to stop it begins no more deliveries while it drains, and leaves none to wait for its lease (case 22)', async () => {
  await shop.query("UPDATE notification SET state = 'SKIPPED'");
  receiver.answer = null;
  const app = spawnApp(root, {
    ...env,
    LAPSE_NOTIFY_CHANNEL: 'webhook',
    LAPSE_NOTIFY_WEBHOOK_URL: receiver.url,
    LAPSE_NOTIFY_WEBHOOK_SECRET: receiverSecret,
    LAPSE_NOTIFY_TIMEOUT: '500ms',
    LAPSE_WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
  });
  await app.waitForOutput('"started"');
  const activity = await openActivity(shop, 200);
  const { ids } = await placeOrders(shop, activity, 200, { remindInMs: -1_000, expireInMs: 600_000 });
  await shop.orders.remindPending(ids);
  const before = receiver.requests;
  await waitUntil(() => receiver.requests > before, { what: 'deliveries to begin' });

  app.kill('SIGTERM');
  await app.waitForOutput('"stopping"');
  const atStop = receiver.requests;
  expect(await app.exited).toEqual({ code: 0, signal: null });
  // Its polls took seconds to come back; no more than what was on its way by then has arrived.
  expect(receiver.requests - atStop).toBeLessThanOrEqual(8);
  expect(await shop.count('SELECT COUNT(*) FROM notification WHERE claimed_until > NOW(3)')).toBe(0);
}, 60_000);

test('paused it reminds nobody and tells nobody; resumed it goes on with both, without a restart', async () => {
  const app = spawnApp(root, { ...env, LAPSE_HEARTBEAT_EVERY: '500ms' });
  await app.waitForOutput('"started"');
  const worker = await findWorker(shop, 'reminder', app.pid);
  await directWorker(shop, worker, 'PAUSE');
  const activity = await openActivity(shop, 20);
  const { outbox } = await placeOrders(shop, activity, 20, { remindInMs: 1_000, expireInMs: 600_000 });
  const { sent } = await sendOutboxRows(broker.sender, outbox, relay);
  await shop.orders.markOutboxSent(sent);
  const reminded = () =>
    shop.count('SELECT COUNT(*) FROM orders WHERE activity_id = ? AND reminded_at IS NOT NULL', [
      activity.id,
    ]);
  const told = () =>
    shop.count(
      `SELECT COUNT(*) FROM notification n JOIN orders o ON o.id = n.order_id
       WHERE o.activity_id = ? AND n.state = 'SENT'`,
      [activity.id],
    );
  const due = () =>
    shop.count(
      'SELECT COUNT(*) FROM orders WHERE activity_id = ? AND remind_at < NOW(3) - INTERVAL 1 SECOND',
      [activity.id],
    );
  await waitUntil(async () => (await due()) === 20, { what: 'the reminders to be due for a second' });
  expect(await reminded()).toBe(0);
  await directWorker(shop, worker, 'RUN');
  await waitUntil(async () => (await told()) === 20, { what: 'all to be told', timeoutMs: 20_000 });
  expect(await reminded()).toBe(20);
  app.kill('SIGTERM');
  expect(await app.exited).toEqual({ code: 0, signal: null });
}, 90_000);

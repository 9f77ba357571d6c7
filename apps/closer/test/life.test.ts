import { sendOutboxRows } from '@lapse/messaging';
import {
  countCredits,
  openActivity,
  openBroker,
  openShop,
  placeOrders,
  readStock,
  relay,
  type Shop,
  type TestBroker,
} from '@lapse/test-shop';
import { type SpawnedApp, spawnApp, waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

let shop: Shop;
let broker: TestBroker;
const apps: SpawnedApp[] = [];

beforeAll(async () => {
  shop = await openShop();
  broker = await openBroker();
  const env = { ...broker.env, LAPSE_MYSQL_URL: shop.databaseUrl, LAPSE_REDIS_URL: shop.redisUrl };
  for (const name of ['reminder', 'closer']) {
    apps.push(spawnApp(new URL(`../../${name}/`, import.meta.url), env));
  }
  for (const app of apps) await app.waitForOutput('"started"');
});
afterAll(async () => {
  for (const app of apps) app.kill('SIGTERM');
  const exits = await Promise.all(apps.map((app) => app.exited));
  await broker.sender.close();
  await shop.close();
  expect(exits).toEqual(apps.map(() => ({ code: 0, signal: null })));
});

test('an order lives through real processes and the real broker: pending, reminded, closed, stock back', async () => {
  const activity = await openActivity(shop, 30);
  const { ids, outbox } = await placeOrders(shop, activity, 30, { remindInMs: 2_500, expireInMs: 5_500 });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 0, redis: 0, held: 30 });
  const { sent, failed } = await sendOutboxRows(broker.sender, outbox, relay);
  expect(failed).toEqual([]);
  await shop.orders.markOutboxSent(sent);

  await waitUntil(
    async () => (await shop.count('SELECT COUNT(*) FROM orders WHERE reminded_at IS NOT NULL')) === 30,
    { what: '30 reminded orders' },
  );
  await waitUntil(
    async () => (await shop.count("SELECT COUNT(*) FROM orders WHERE status = 'TIMEOUT_CLOSED'")) === 30,
    { what: '30 closed orders' },
  );
  await waitUntil(async () => (await readStock(shop, activity.id)).redis === 30, { what: 'the release' });

  expect(await readStock(shop, activity.id)).toEqual({ mysql: 30, redis: 30, held: 0 });
  expect(await countCredits(shop, activity.id)).toBe(30);
  const rows = await shop.query(
    `SELECT TIMESTAMPDIFF(MICROSECOND, remind_at, reminded_at) DIV 1000 AS remindLate,
      TIMESTAMPDIFF(MICROSECOND, expires_at, closed_at) DIV 1000 AS closeLate,
      reminded_at < closed_at AS remindedFirst FROM orders`,
  );
  // By the times that were written: whoever looks between the two may come too late.
  expect(rows.filter((row) => Number(row.remindedFirst) === 1)).toHaveLength(30);
  const remindLate = rows.map((row) => Number(row.remindLate)).sort((a, b) => a - b);
  const closeLate = rows.map((row) => Number(row.closeLate)).sort((a, b) => a - b);
  process.stdout.write(
    `life: reminded ${remindLate[0]}-${remindLate.at(-1)} ms late, closed ${closeLate[0]}-${closeLate.at(-1)} ms late\n`,
  );
  expect(remindLate[0]).toBeGreaterThanOrEqual(0);
  expect(closeLate[0]).toBeGreaterThanOrEqual(0);
  // Both notices are delivered, each once.
  await waitUntil(
    async () => (await shop.count("SELECT COUNT(*) FROM notification WHERE state = 'SENT'")) === 60,
    { what: '60 delivered notices' },
  );
  const timeline = await shop.orders.readTimeline(ids[0] ?? '');
  expect(timeline?.transitions.map(({ toStatus }) => toStatus)).toEqual(['PENDING', 'TIMEOUT_CLOSED']);
  expect(timeline?.messages).toHaveLength(2);
}, 60_000);

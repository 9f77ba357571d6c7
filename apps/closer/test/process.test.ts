import { spawnApp, waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBroker, relay, type TestBroker } from './broker.ts';
import { countCredits, openActivity, openShop, placeOrders, readStock, type Shop } from './shop.ts';

const root = new URL('..', import.meta.url);

let shop: Shop;
let broker: TestBroker;
let env: Record<string, string>;

beforeAll(async () => {
  shop = await openShop();
  broker = await openBroker();
  env = { ...broker.env, LAPSE_MYSQL_URL: shop.databaseUrl, LAPSE_REDIS_URL: shop.redisUrl };
});
afterAll(async () => {
  await broker.sender.close();
  await shop.close();
});

test('a variable that is missing, out of range or misspelt ends the start with 1, and is named', async () => {
  const { LAPSE_REDIS_URL: _, ...incomplete } = env;
  const app = spawnApp(root, { ...incomplete, LAPSE_CLOSE_BATCH_MAX: '0', LAPSE_MYSQL_POOL_MXA: '4' });

  expect(await app.exited).toEqual({ code: 1, signal: null });

  const output = app.output();
  expect(output).toContain('LAPSE_REDIS_URL');
  expect(output).toContain('LAPSE_CLOSE_BATCH_MAX');
  expect(output).toMatch(/LAPSE_MYSQL_POOL_MXA.*LAPSE_MYSQL_POOL_MAX/);
});

test('it starts from the environment alone, is ready, serves its metrics, and SIGTERM ends it with 0', async () => {
  const app = spawnApp(root, env);
  await app.waitForOutput('"started"');
  const port = /"port":(\d+)/.exec(app.output())?.[1];

  const report = () => fetch(`http://127.0.0.1:${port}/readyz`);
  await waitUntil(async () => (await report()).ok, { what: 'readiness' });
  const { checks } = (await (await report()).json()) as { checks: object };
  expect(Object.keys(checks).sort()).toEqual(['broker', 'mysql', 'redis']);
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toContain('lapse_close_lateness_ms_bucket');

  app.kill('SIGTERM');
  expect(await app.exited).toEqual({ code: 0, signal: null });
});

test('case 22: SIGTERM in the middle of a burst applies nothing by halves, and the next closer finishes soon', async () => {
  const activity = await openActivity(shop, 3_000);
  const app = spawnApp(root, { ...env, LAPSE_CLOSE_BATCH_MAX: '50' });
  await app.waitForOutput('"started"');
  const { ids, due } = await placeOrders(shop, activity, 3_000, { remindInMs: 1, expireInMs: 6_000 });
  for (let at = 0; at < due.length; at += 256) {
    const orders = due.slice(at, at + 256);
    const dueTime = orders[0]?.dueTime ?? 0;
    await broker.sender.send({ version: 1, phase: 2, dueTime, orders }, dueTime - relay.closeLeadMs);
  }
  const closed = () =>
    shop.count("SELECT COUNT(*) FROM orders WHERE activity_id = ? AND status = 'TIMEOUT_CLOSED'", [
      activity.id,
    ]);
  await waitUntil(closed, { what: 'the first batch', everyMs: 5, timeoutMs: 20_000 });

  app.kill('SIGTERM');
  expect(await app.exited).toEqual({ code: 0, signal: null });

  // Each order is wholly closed or wholly pending: status, ledger and count go together.
  const credits = await countCredits(shop, activity.id);
  expect(await closed()).toBe(credits);
  expect((await readStock(shop, activity.id)).mysql).toBe(credits);

  const startedAt = performance.now();
  const next = spawnApp(root, env);
  await waitUntil(async () => (await closed()) === ids.length, { what: 'all closed', timeoutMs: 25_000 });
  const waitedMs = Math.round(performance.now() - startedAt);
  process.stdout.write(
    `case 22: ${credits} closed before the stop; the rest ${waitedMs} ms after the next start\n`,
  );
  next.kill('SIGTERM');
  await next.exited;

  expect(await countCredits(shop, activity.id)).toBe(ids.length);
  expect((await readStock(shop, activity.id)).mysql).toBe(3_000);
}, 90_000);

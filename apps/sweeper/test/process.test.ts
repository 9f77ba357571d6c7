import { createServer } from 'node:net';
import {
  directWorker,
  findWorker,
  openActivity,
  openShop,
  placeOrders,
  readStock,
  type Shop,
} from '@lapse/test-shop';
import { checkInvariants, type SpawnedApp, spawnApp, waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = new URL('..', import.meta.url);

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

test('a variable that is missing, out of range or misspelt ends the start with 1, and is named', async () => {
  const app = spawnApp(root, {
    LAPSE_REDIS_URL: shop.redisUrl,
    LAPSE_ROCKETMQ_ENDPOINTS: '127.0.0.1:1',
    LAPSE_SWEEP_EVERY: '2d',
    LAPSE_SWEEP_GRACEE: '5m',
  });

  expect(await app.exited).toEqual({ code: 1, signal: null });

  const output = app.output();
  expect(output).toContain('LAPSE_MYSQL_URL');
  expect(output).toMatch(/LAPSE_SWEEP_EVERY.*2d/);
  expect(output).toMatch(/LAPSE_SWEEP_GRACEE.*LAPSE_SWEEP_GRACE\b/);
});

test('cases 2, 10, 19: started without a broker it closes what is due and repairs Redis, and SIGTERM ends it', async () => {
  const activity = await openActivity(shop, 400);
  await placeOrders(shop, activity, 300, { remindInMs: -360_000, expireInMs: -30_000 });
  const { ids } = await placeOrders(shop, activity, 50, { remindInMs: -300_000, expireInMs: -5 });
  await placeOrders(shop, activity, 37, { remindInMs: 60_000, expireInMs: 120_000 });
  // A closer that died between its commit and Redis; then Redis loses everything.
  await shop.orders.closeExpired(ids, { cause: 'message' });
  await shop.flushRedis();

  const app = spawnApp(root, {
    LAPSE_MYSQL_URL: shop.databaseUrl,
    LAPSE_REDIS_URL: shop.redisUrl,
    LAPSE_ROCKETMQ_ENDPOINTS: `127.0.0.1:${await freePort()}`,
    LAPSE_SWEEP_EVERY: '500ms',
    LAPSE_REPAIR_EVERY: '200ms',
    LAPSE_EFFECTS_AFTER: '0ms',
  });
  await app.waitForOutput('"started"');
  await waitUntil(
    async () => {
      const { mysql, redis, held } = await readStock(shop, activity.id);
      return mysql === 363 && redis === 363 && held === 37;
    },
    { what: '363 free and 37 held in both stores', timeoutMs: 20_000 },
  );
  await waitUntil(async () => (await effectsLeft()) === 0, { what: 'the effects to be applied' });
  app.kill('SIGTERM');

  expect(await app.exited).toEqual({ code: 0, signal: null });
  const verdict = await checkInvariants({
    mysqlUrl: shop.databaseUrl,
    redisUrl: shop.redisUrl,
    atRest: false,
  });
  expect(verdict.failed).toEqual([]);
});

test('paused it repairs nothing, and goes on telling what MySQL holds; resumed it closes what is overdue and loads what Redis lost', async () => {
  const app = spawnApp(root, {
    LAPSE_MYSQL_URL: shop.databaseUrl,
    LAPSE_REDIS_URL: shop.redisUrl,
    LAPSE_ROCKETMQ_ENDPOINTS: `127.0.0.1:${await freePort()}`,
    LAPSE_SWEEP_EVERY: '200ms',
    LAPSE_SWEEP_GRACE: '0ms',
    LAPSE_REPAIR_EVERY: '200ms',
    LAPSE_HEARTBEAT_EVERY: '500ms',
    LAPSE_SWEEPER_REPORT_EVERY: '200ms',
  });
  await app.waitForOutput('"started"');
  const worker = await findWorker(shop, 'sweeper', app.pid);
  await directWorker(shop, worker, 'PAUSE');
  const activity = await openActivity(shop, 30);
  await placeOrders(shop, activity, 20, { remindInMs: -300_000, expireInMs: -1_000 });
  await shop.flushRedis();
  // Many turns of its tasks.
  const heard = async () => (await shop.orders.listWorkers()).find(({ id }) => id === worker.id)?.heartbeatAt;
  const before = Number(await heard());
  await waitUntil(async () => Number(await heard()) - before > 1_500, { what: 'some heartbeats' });
  expect((await readStock(shop, activity.id)).mysql).toBe(10);
  await waitUntil(async () => (await readGauge(app, 'lapse_orders_overdue')) === 20, {
    what: 'the paused sweeper to tell of the overdue orders',
  });
  await directWorker(shop, worker, 'RUN');
  await waitUntil(
    async () => {
      const { mysql, redis, held } = await readStock(shop, activity.id);
      return mysql === 30 && redis === 30 && held === 0;
    },
    { what: 'every place back in both stores', timeoutMs: 20_000 },
  );
  app.kill('SIGTERM');
  expect(await app.exited).toEqual({ code: 0, signal: null });
}, 60_000);

async function readGauge(app: SpawnedApp, name: string): Promise<number> {
  const port = /"port":(\d+),"msg":"ops server listens"/.exec(app.output())?.[1];
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

function effectsLeft(): Promise<number> {
  return shop.count("SELECT COUNT(*) FROM effect WHERE kind IN ('release', 'confirm')");
}

/** A port on which nothing listens. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

import {
  countCredits,
  directWorker,
  findWorker,
  openActivity,
  openBroker,
  openShop,
  placeOrders,
  readStock,
  type Shop,
  type TestBroker,
  waitForState,
} from '@lapse/test-shop';
import { type SpawnedApp, spawnApp, waitUntil } from '@lapse/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

const root = new URL('..', import.meta.url);
const sweeperRoot = new URL('../../sweeper/', import.meta.url);
/** A batch of many orders on a busy machine; far below any redelivery. */
const promptMsMax = 2_000;

let shop: Shop;
let broker: TestBroker;
let env: Record<string, string>;
let apps: SpawnedApp[] = [];

beforeAll(async () => {
  shop = await openShop();
  broker = await openBroker();
  env = {
    ...broker.env,
    LAPSE_MYSQL_URL: shop.databaseUrl,
    LAPSE_REDIS_URL: shop.redisUrl,
    LAPSE_HEARTBEAT_EVERY: '500ms',
    // The least there is: so that the control is over soon.
    LAPSE_INVISIBLE: '10s',
  };
});
afterEach(async () => {
  // Not killed: the broker would go on to serve the long poll of a dead closer, and keep what the next test sends.
  for (const app of apps) app.kill('SIGTERM');
  await Promise.all(apps.map((app) => app.exited));
  apps = [];
});
afterAll(async () => {
  await broker.sender.close();
  await shop.close();
});

async function start(appRoot = root, more: Record<string, string> = {}): Promise<SpawnedApp> {
  const app = spawnApp(appRoot, { ...env, ...more });
  apps.push(app);
  await app.waitForOutput('"started"');
  return app;
}

/** Orders that fall due in `dueInMs`, their messages on their way. */
async function sell(count: number, dueInMs: number, deliverInMs: number) {
  const activity = await openActivity(shop, count);
  const { closeDue } = await placeOrders(shop, activity, count, { remindInMs: 1, expireInMs: dueInMs });
  for (let at = 0; at < count; at += 50) {
    const orders = closeDue.slice(at, at + 50);
    const message = { version: 1, phase: 2, dueTime: orders[0]?.dueTime ?? 0, orders } as const;
    await broker.sender.send(message, Date.now() + deliverInMs);
  }
  return activity.id;
}

async function waitForClosed(activityId: number, count: number): Promise<{ late: number; causes: string[] }> {
  await waitUntil(async () => (await countCredits(shop, activityId)) === count, {
    what: `${count} closed orders`,
    timeoutMs: 40_000,
  });
  const rows = await shop.query(
    `SELECT TIMESTAMPDIFF(MICROSECOND, expires_at, closed_at) DIV 1000 AS late, t.cause FROM orders o
     JOIN order_transition t ON t.order_id = o.id AND t.to_status = 'TIMEOUT_CLOSED' WHERE o.activity_id = ?`,
    [activityId],
  );
  await waitUntil(async () => (await readStock(shop, activityId)).redis === count, {
    what: 'the places back',
  });
  return {
    late: Math.max(...rows.map(({ late }) => Number(late))),
    causes: [...new Set(rows.map(({ cause }) => String(cause)))],
  };
}

test('two closers, one paused and then killed: every order closes on time, by its message', async () => {
  const [first, second] = [await start(), await start()];
  const paused = await findWorker(shop, 'closer', first.pid);
  const other = await findWorker(shop, 'closer', second.pid);
  await directWorker(shop, paused, 'PAUSE');
  const activityId = await sell(200, 7_000, 5_000);
  // Drained is what it says: nothing is lost or late with it.
  first.kill('SIGKILL');
  const { late, causes } = await waitForClosed(activityId, 200);
  process.stdout.write(`one of two closers paused and killed: 200 orders at most ${late} ms late\n`);
  expect(causes).toEqual(['message']);
  expect(late).toBeLessThan(promptMsMax);
  const closed = (await shop.orders.listWorkers()).find(({ id }) => id === other.id);
  expect(closed?.figures.latenessP99Ms ?? 0).toBeLessThanOrEqual(late);
  await waitUntil(
    async () => (await shop.orders.listWorkers()).some(({ id, alive }) => id === paused.id && !alive),
    { what: 'the killed one to be seen as dead' },
  );
}, 90_000);

test('negative control: a closer that is killed with orders in hand, not paused, makes them late', async () => {
  const app = await start();
  const { id } = await findWorker(shop, 'closer', app.pid);
  const activityId = await sell(100, 6_000, 0);
  await waitUntil(
    async () => (await shop.orders.listWorkers()).some((one) => one.id === id && one.figures.inHand === 100),
    { what: 'the orders to be in hand', timeoutMs: 5_000 },
  );
  app.kill('SIGKILL');
  await start();
  const { late } = await waitForClosed(activityId, 100);
  process.stdout.write(`a closer killed with 100 orders in hand: closed ${late} ms late\n`);
  expect(late).toBeGreaterThan(promptMsMax);
}, 90_000);

test('a closer that is resumed takes up again, without a restart', async () => {
  const app = await start();
  const worker = await findWorker(shop, 'closer', app.pid);
  await directWorker(shop, worker, 'PAUSE');
  // Nobody is there to close these; nothing is lost by that.
  const meanwhile = await sell(20, 1_000, 0);
  expect(await countCredits(shop, meanwhile)).toBe(0);
  await directWorker(shop, worker, 'RUN');
  await waitForClosed(meanwhile, 20);
  const { late, causes } = await waitForClosed(await sell(50, 4_000, 2_500), 50);
  expect(causes).toEqual(['message']);
  expect(late).toBeLessThan(promptMsMax);
}, 90_000);

test('with all closers paused the sweeper closes, by its grace, and each place comes back once', async () => {
  const app = await start();
  await start(sweeperRoot, { LAPSE_SWEEP_EVERY: '500ms', LAPSE_SWEEP_GRACE: '2s' });
  const worker = await findWorker(shop, 'closer', app.pid);
  await directWorker(shop, worker, 'PAUSE');
  const activityId = await sell(100, 4_000, 2_500);
  const { late, causes } = await waitForClosed(activityId, 100);
  expect(causes).toEqual(['sweep']);
  expect(late).toBeGreaterThanOrEqual(2_000);
  // The messages are still there, and find nothing left to do.
  await directWorker(shop, worker, 'RUN');
  await waitForClosed(await sell(10, 3_000, 1_500), 10);
  expect(await readStock(shop, activityId)).toEqual({ mysql: 100, redis: 100, held: 0 });
  expect(await countCredits(shop, activityId)).toBe(100);
}, 90_000);

test('a closer that stops says so; paused it stops at once', async () => {
  const app = await start();
  const worker = await findWorker(shop, 'closer', app.pid);
  expect(worker).toMatchObject({ state: 'RUNNING', wanted: 'RUN', version: '0.1.0' });
  await directWorker(shop, worker, 'PAUSE');
  const startedAt = performance.now();
  app.kill('SIGTERM');
  expect(await app.exited).toEqual({ code: 0, signal: null });
  // No poll is waited for.
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  await waitForState(shop, worker.id, 'STOPPED');
}, 60_000);

import type { TimeoutOrder } from '@lapse/contracts';
import { consumerGroupOf, topicOf } from '@lapse/contracts';
import {
  openActivity,
  openBroker,
  openShop,
  placeOrders,
  readStock,
  type Shop,
  type TestBroker,
} from '@lapse/test-shop';
import { queryDatabase, type SpawnedApp, spawnApp, waitUntil } from '@lapse/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** Kills of each kind; every kill has an order of its own in hand. */
const killsPerPoint = 2;
const unpaid = { remindInMs: -2, expireInMs: -1 };

let shop: Shop;
let broker: TestBroker;

beforeEach(async () => {
  shop = await openShop();
  broker = await openBroker();
});
afterEach(async () => {
  await broker.sender.close();
  await shop.close();
});

interface Worker {
  readonly name: string;
  /** One right after COMMIT, one after the stock is given back, one after all of Redis. */
  readonly points: readonly string[];
  readonly start: (dieAt: string | null) => SpawnedApp;
}

/**
 * Kill the worker at each point with one order in hand; its message comes again to a later one.
 * @returns what all of them wrote: on a slow machine one of them has met an earlier one's message.
 */
async function killAtEachPoint(worker: Worker, orders: readonly TimeoutOrder[]): Promise<string> {
  let outputs = '';
  const rounds = worker.points.flatMap((point) => Array.from({ length: killsPerPoint }, () => point));
  expect(rounds).toHaveLength(orders.length);
  for (const [index, point] of rounds.entries()) {
    const order = orders[index] as TimeoutOrder;
    const app = worker.start(point);
    await app.waitForOutput('started');
    await broker.sender.send({ version: 1, phase: 2, dueTime: order.dueTime, orders: [order] }, Date.now());
    expect((await app.exited).signal, `${worker.name} at ${point}`).toBe('SIGKILL');
    outputs += app.output();
  }
  return outputs;
}

async function countBuyersStuck(activityId: number): Promise<number> {
  const counts = await shop.stock.readCounts(activityId);
  return counts?.users ?? -1;
}

async function stop(app: SpawnedApp): Promise<void> {
  app.kill('SIGKILL');
  await app.exited;
}

test('the worker that everybody writes first loses places when it is killed after COMMIT, and locks buyers out', async () => {
  const activity = await openActivity(shop, 100);
  const { closeDue } = await placeOrders(shop, activity, 3 * killsPerPoint, unpaid);
  const root = new URL('../../../packages/seed-worker/', import.meta.url);
  const start = (dieAt: string | null): SpawnedApp =>
    spawnApp(root, {
      SEED_MYSQL_URL: shop.databaseUrl,
      SEED_REDIS_URL: shop.redisUrl,
      SEED_ENDPOINTS: broker.config.endpoints,
      SEED_TOPIC: topicOf(2, broker.config.topicPrefix),
      SEED_GROUP: consumerGroupOf(2, broker.config.topicPrefix),
      ...(dieAt ? { SEED_DIE_AT: dieAt } : {}),
    });
  const outputs = await killAtEachPoint(
    { name: 'seed', points: ['after-commit', 'after-incr', 'after-srem'], start },
    closeDue,
  );

  // Every message comes again, and is acknowledged: nothing is left that could repair anything.
  const last = start(null);
  try {
    for (const { orderId } of closeDue) {
      const line = `acknowledged ${orderId}`;
      if (!outputs.includes(line)) await last.waitForOutput(line);
    }
  } finally {
    await stop(last);
  }

  const { mysql, redis } = await readStock(shop, activity.id);
  const stuck = await countBuyersStuck(activity.id);
  process.stdout.write(
    `seed worker: ${closeDue.length} kills, places lost ${mysql - redis}, buyers locked out ${stuck}\n`,
  );
  expect(mysql).toBe(100);
  expect(mysql - redis).toBe(killsPerPoint);
  expect(stuck).toBe(2 * killsPerPoint);
}, 240_000);

test('the closer loses nothing at the same points: killed, repaired by the sweeper, every place back once', async () => {
  const activity = await openActivity(shop, 100);
  const { closeDue } = await placeOrders(shop, activity, 3 * killsPerPoint, unpaid);
  const env = { ...broker.env, LAPSE_MYSQL_URL: shop.databaseUrl, LAPSE_REDIS_URL: shop.redisUrl };
  const closer = new URL('../../../apps/closer/', import.meta.url);
  const start = (dieAt: string | null): SpawnedApp =>
    spawnApp(closer, { ...env, ...(dieAt ? { LAPSE_CRASH_AT: dieAt } : {}) }, 'compiled');
  const points = ['orders.closeExpired:after', 'stock.release:after', 'orders.markEffectsApplied:after'];
  await killAtEachPoint({ name: 'closer', points, start }, closeDue);

  const sweeper = spawnApp(new URL('../../../apps/sweeper/', import.meta.url), env, 'compiled');
  await waitUntil(
    async () =>
      (await queryDatabase(shop.databaseUrl, "SELECT 1 FROM effect WHERE kind = 'release'")).length === 0,
    {
      what: 'the effects to be applied',
      timeoutMs: 60_000,
    },
  );
  await stop(sweeper);

  const { mysql, redis } = await readStock(shop, activity.id);
  const stuck = await countBuyersStuck(activity.id);
  process.stdout.write(
    `our closer: ${closeDue.length} kills, places lost ${mysql - redis}, buyers locked out ${stuck}\n`,
  );
  expect({ mysql, redis, stuck }).toEqual({ mysql: 100, redis: 100, stuck: 0 });
}, 240_000);

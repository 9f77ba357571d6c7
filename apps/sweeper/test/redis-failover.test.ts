import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisSentinelService, startRedisSentinel } from '@lapse/local-services';
import { openStock } from '@lapse/stock';
import { log, openActivity, openShop, readStock, type Shop } from '@lapse/test-shop';
import { checkInvariants, redisAt, type SpawnedApp, spawnApp, waitUntil } from '@lapse/testing';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';

const capacity = 3_000;
const buyers = 8;
/** From the death of the master until orders are sold again; the sentinels alone take `downAfterMs` and an election. */
const downAfterMs = 1_000;
const resumedMsMax = 20_000;

let dir: string;
let redis: RedisSentinelService;
let shop: Shop;
let sweeper: SpawnedApp;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lapse-failover-'));
  redis = await startRedisSentinel({ dir, downAfterMs, log: () => undefined });
  shop = await openShop({ redis: { ...redisAt(masterUrl('redis-1')), url: redis.url } });
  sweeper = spawnApp(new URL('..', import.meta.url), {
    LAPSE_MYSQL_URL: shop.databaseUrl,
    LAPSE_REDIS_URL: redis.url,
    LAPSE_ROCKETMQ_ENDPOINTS: '127.0.0.1:1',
  });
  await sweeper.waitForOutput('"started"');
});
afterAll(async () => {
  sweeper?.kill('SIGTERM');
  await sweeper?.exited;
  await shop?.close();
  await redis?.close();
  await rm(dir, { recursive: true, force: true });
});

function masterUrl(name: string): string {
  return `redis://127.0.0.1:${redis.ports[name]}`;
}

interface Attempt {
  readonly at: number;
  readonly kind: string;
  /** Of the stock that the buyer knew of. */
  readonly generation: number;
}

/** One buyer after the other, as the producer does it: a refusal makes it read the activity anew. */
async function sellUntil(activityId: number, isOver: () => boolean, attempts: Attempt[]): Promise<void> {
  let activity = await shop.orders.readActivity(activityId);
  while (!isOver() && activity) {
    const id = uuidv7();
    const nowMs = Math.floor(shop.orders.now());
    const order = {
      ...{ id, activityId, generation: activity.generation, userId: `buyer ${id}`, quantity: 1 },
      ...{ amountMinor: activity.priceMinor, currency: activity.currency, locale: 'en' },
      createdAt: new Date(nowMs),
      remindAt: new Date(nowMs + 600_000),
      expiresAt: new Date(nowMs + 900_000),
      idempotencyKey: `key of ${id}`,
      requestHash: createHash('sha256').update(id).digest(),
    };
    const { stockRunId } = activity;
    const { kind } = await shop.stock
      .reserve({ ...order, stockRunId, orderId: id })
      .catch(() => ({ kind: 'away' }));
    const { results } = kind === 'reserved' ? await shop.orders.createOrders([order]) : { results: [] };
    const { generation } = order;
    attempts.push({ at: performance.now(), kind: results[0]?.kind ?? kind, generation });
    if (kind !== 'reserved') {
      // As a buyer who is told to come back.
      await new Promise((resolve) => setTimeout(resolve, 20));
      activity = await shop.orders.readActivity(activityId);
    }
  }
}

test('the master of Redis is killed in a sale: the sentinels name another one, which sells once it is loaded; none is oversold', {
  timeout: 120_000,
}, async () => {
  const activity = await openActivity(shop, capacity);
  const attempts: Attempt[] = [];
  let over = false;
  const sale = Promise.all(
    Array.from({ length: buyers }, () => sellUntil(activity.id, () => over, attempts)),
  );
  const sold = (generation: number) =>
    attempts.filter((attempt) => attempt.kind === 'created' && attempt.generation >= generation);
  let killedAt = 0;
  const loaded = activity.generation + 1;
  const before = await shop.stock.describeServers();
  try {
    await waitUntil(() => sold(0).length > 200, { what: 'some sales', timeoutMs: 30_000 });
    redis.kill('SIGKILL', 'redis-1');
    killedAt = performance.now();
    await waitUntil(() => sold(loaded).length > 100, { what: 'sales to resume', timeoutMs: 60_000 });
  } finally {
    over = true;
    await sale;
  }

  const since = (attempt: Attempt | undefined) => Math.round((attempt?.at ?? Number.NaN) - killedAt);
  const resumedMs = since(sold(loaded)[0]);
  const after = await shop.stock.describeServers();
  const verdict = await checkInvariants({
    mysqlUrl: shop.databaseUrl,
    redisUrl: masterUrl('redis-2'),
    atRest: false,
  });
  const oversold = verdict.failed.filter(({ id }) => id === 'I1' || id === 'I2');
  process.stdout.write(
    `Redis failover by sentinels (down after ${downAfterMs} ms): sales resumed ${resumedMs} ms after the kill; ` +
      `${sold(0).length} sold, oversold ${oversold.length}\n`,
  );
  expect(oversold).toEqual([]);
  expect(resumedMs).toBeLessThan(resumedMsMax);
  expect(after[0]?.runId).not.toBe(before[0]?.runId);
  expect(after[0]).toMatchObject({ role: 'master', address: `127.0.0.1:${redis.ports['redis-2']}` });
  // Nothing of what was sold before is missing, and nothing is held that was not sold.
  const { mysql, redis: free } = await readStock(shop, activity.id);
  expect([mysql, free]).toEqual([capacity - sold(0).length, capacity - sold(0).length]);
});

test('the old master comes back as a replica, and is not sold on', async () => {
  await redis.start();
  await waitUntil(
    async () =>
      String(await redisAt(masterUrl('redis-1')).command('INFO', 'replication')).includes('role:slave'),
    { what: 'the old master to follow the new one', timeoutMs: 30_000 },
  );
  const [server] = await shop.stock.describeServers();
  expect(server?.address).toBe(`127.0.0.1:${redis.ports['redis-2']}`);
});

test('sentinels that ask for a password get it, and not that of Redis', async () => {
  const login = { sentinelUsername: 'lapse', sentinelPassword: 'of the sentinels' };
  const rights = ['+ping', '+sentinel|get-master-addr-by-name', '+sentinel|sentinels'];
  for (const sentinel of redis.sentinels) {
    const { command } = redisAt(`redis://${sentinel}`);
    await command('ACL', 'SETUSER', 'lapse', 'on', `>${login.sentinelPassword}`, '-@all', ...rights);
    await command('ACL', 'SETUSER', 'default', 'off');
  }
  const config = { url: redis.url, commandTimeoutMs: 2_000 };
  const stock = await openStock({ ...config, ...login }, log);
  expect((await stock.describeServers())[0]).toMatchObject({ role: 'master' });
  await stock.close();
  // Control.
  const refused = await openStock({ ...config, commandTimeoutMs: 500 }, log);
  await expect(refused.ping()).rejects.toMatchObject({ code: 'LAPSE_STOCK_UNAVAILABLE' });
  await refused.close();
});

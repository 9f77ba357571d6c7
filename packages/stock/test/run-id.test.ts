import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '@lapse/runtime';
import { waitUntil } from '@lapse/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openStock, type Stock } from '../src/index.ts';
import { emptySnapshot, loadOver, readRunId } from './open-test-stock.ts';
import { createPrivateRedis, type PrivateRedis } from './private-redis.ts';

const log = createLogger('test', 'silent');
let server: PrivateRedis;
let stock: Stock;
let activityId = 0;
let runId = '';

beforeAll(async () => {
  // Snapshots instead of the append-only file: so that it can come back with older data.
  server = await createPrivateRedis({ args: ['--appendonly', 'no'] });
});
afterAll(() => server.remove());
beforeEach(async () => {
  activityId += 1;
  stock = await openStock({ url: server.url, commandTimeoutMs: 2_000 }, log);
  runId = await loadOver(stock, emptySnapshot(activityId, 3));
  return () => stock.close();
});

const reserve = (orderId: string, stockRunId: string | null = runId) =>
  stock.reserve({ activityId, generation: 1, stockRunId, orderId, userId: orderId, quantity: 1 });

async function withRedis<T>(use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(server.url, { retryStrategy: null });
  redis.on('error', () => undefined);
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

/** Kill the server and start it with the snapshot it had when `back` was taken. */
async function rollBack(): Promise<void> {
  await server.kill();
  await copyFile(join(server.dir, 'older.rdb'), join(server.dir, 'dump.rdb'));
  await server.start();
  await waitUntil(() => stock.ping().then(() => true), { what: 'Redis to answer' });
}

async function keepSnapshot(): Promise<void> {
  await withRedis((redis) => redis.save());
  await copyFile(join(server.dir, 'dump.rdb'), join(server.dir, 'older.rdb'));
}

it('a load says which server took it, and reserves pass as long as it is that server', async () => {
  expect(runId).toBe(await withRedis(readRunId));
  expect(await reserve('o1')).toEqual({ kind: 'reserved' });
  expect(await reserve('o2', null)).toEqual({ kind: 'not_ready' });
  expect(await reserve('o3', 'another')).toEqual({ kind: 'not_ready' });
  expect(await stock.readCounts(activityId)).toMatchObject({ stock: 2, held: 1 });
});

it('a server that comes back with an older snapshot sells nothing: its places were sold since', async () => {
  await keepSnapshot();
  for (const orderId of ['o1', 'o2', 'o3']) expect(await reserve(orderId)).toEqual({ kind: 'reserved' });
  await rollBack();

  // Under the right generation, with three free places that are gone.
  expect(await stock.readCounts(activityId)).toMatchObject({ stock: 3, held: 0, generation: 1 });
  expect(await reserve('o4')).toEqual({ kind: 'not_ready' });
  const load = await stock.readLoad(activityId);
  expect(load?.generation).toBe(1);
  expect(load?.runId).not.toBe(runId);

  const now = await loadOver(stock, { ...emptySnapshot(activityId, 0, 2), capacity: 3 });
  const after = { activityId, generation: 2, stockRunId: now, orderId: 'o5', userId: 'o5', quantity: 1 };
  expect(await stock.reserve(after)).toEqual({ kind: 'sold_out_newcomer' });
});

it('negative control: without the run id, a server with an older snapshot sells its places again', async () => {
  await keepSnapshot();
  for (const orderId of ['o1', 'o2', 'o3']) await reserve(orderId);
  await rollBack();
  // What the connection says of itself is always right: the guard is off.
  const unguarded = await withRedis(readRunId);
  expect(await reserve('o4', unguarded)).toEqual({ kind: 'reserved' });
});

it('a replica that lagged and takes over sells nothing until it is loaded', async () => {
  const replica = await createPrivateRedis();
  const onReplica = await openStock({ url: replica.url, commandTimeoutMs: 2_000 }, log);
  try {
    const { port } = new URL(server.url);
    const redis = new Redis(replica.url);
    await redis.replicaof('127.0.0.1', port);
    await waitUntil(async () => (await redis.get(`activity:{${activityId}}:gen`)) === '1', {
      what: 'the replica to have the activity',
    });
    await redis.replicaof('NO', 'ONE');
    await redis.quit();
    expect(await reserve('o1')).toEqual({ kind: 'reserved' });
    const late = { activityId, generation: 1, stockRunId: runId, orderId: 'o2', userId: 'o2', quantity: 1 };
    expect(await onReplica.reserve(late)).toEqual({ kind: 'not_ready' });
  } finally {
    await onReplica.close();
    await replica.remove();
  }
});

it('every reserve after a reconnect waits for the run id of the new connection', async () => {
  await keepSnapshot();
  const answers: string[] = [];
  let stop = false;
  const rush = (async () => {
    for (let n = 0; !stop; n += 1) {
      answers.push(
        await reserve(`rush ${n}`).then(
          ({ kind }) => kind,
          () => 'away',
        ),
      );
      await new Promise(setImmediate);
    }
  })();
  await waitUntil(() => answers.includes('sold_out_newcomer'), { what: 'the first three to sell' });
  await rollBack();
  await waitUntil(() => answers.at(-1) === 'not_ready', { what: 'the new server to refuse' });
  stop = true;
  await rush;
  expect(answers.filter((kind) => kind === 'reserved')).toHaveLength(3);
});

import { createLogger } from '@lapse/runtime';
import { waitUntil } from '@lapse/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { isStockUnavailable, openStock, type Stock } from '../src/index.ts';
import { emptySnapshot, loadOver, readRunId } from './open-test-stock.ts';
import { createPrivateRedis, type PrivateRedis } from './private-redis.ts';

const commandTimeoutMs = 1_000;
let server: PrivateRedis;
let redis: Redis;
let stock: Stock;
let runId: string;
let activityId = 0;

beforeAll(async () => {
  server = await createPrivateRedis();
  redis = new Redis(server.url);
  runId = await readRunId(redis);
  stock = await openStock({ url: server.url, commandTimeoutMs }, createLogger('test', 'silent'));
});
afterAll(async () => {
  await stock.close();
  redis.disconnect();
  await server.remove();
});
beforeEach(async () => {
  activityId += 1;
  await loadOver(stock, emptySnapshot(activityId, 1_000));
});

function reserve(number: number): Promise<string> {
  const place = { activityId, generation: 1, stockRunId: runId };
  return stock.reserve({ ...place, orderId: `o${number}`, userId: `u${number}`, quantity: 1 }).then(
    ({ kind }) => kind,
    (error: unknown) => (isStockUnavailable(error) ? 'unavailable' : String(error)),
  );
}
const reserveAll = (from: number, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => reserve(from + index)));

/** Of this server, which only this file uses. */
async function scriptCalls(): Promise<number> {
  const stats = await redis.info('commandstats');
  const counts = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)];
  return counts.reduce((sum, [, calls]) => sum + Number(calls), 0);
}

it('orders that are asked for in one turn go in one call, 128 at most; a lone one goes at once', async () => {
  // By now the server knows the script, and the connection its run id.
  await reserve(999);
  const before = await scriptCalls();

  const answers = await reserveAll(0, 300);

  expect(new Set(answers)).toEqual(new Set(['reserved']));
  expect((await scriptCalls()) - before).toBe(3);
  await reserve(998);
  expect((await scriptCalls()) - before).toBe(4);
  expect(await stock.readCounts(activityId)).toMatchObject({ stock: 698, held: 302, users: 302 });
});

it('a Redis that takes no writes still answers those of a call who would write nothing', async () => {
  await reserveAll(0, 3);
  await redis.config('SET', 'min-replicas-to-write', 1);

  const answers = await reserveAll(0, 4);

  expect(answers).toEqual(['reserved', 'reserved', 'reserved', 'unavailable']);
  await redis.config('SET', 'min-replicas-to-write', 0);
  expect(await reserve(3)).toBe('reserved');
});

it('without an answer all of a call fail, none waits for ever, and the repeat counts once', async () => {
  await reserve(999);
  server.freeze();

  const answers = await reserveAll(0, 300);

  expect(new Set(answers)).toEqual(new Set(['unavailable']));
  server.thaw();
  await waitUntil(() => stock.ping().then(() => true), { what: 'Redis to answer again' });
  expect(new Set(await reserveAll(0, 300))).toEqual(new Set(['reserved']));
  expect(await stock.readCounts(activityId)).toMatchObject({ stock: 699, held: 301 });
});

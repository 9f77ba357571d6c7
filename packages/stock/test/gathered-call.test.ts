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

function ask(number: number): Promise<string> {
  const place = { activityId, generation: 1, stockRunId: runId };
  const wanted = { orderId: `o${number}`, userId: `u${number}`, quantity: 1 };
  return stock.reserve({ ...place, ...wanted }).then(({ kind }) => kind);
}
const reserve = (number: number): Promise<string> =>
  ask(number).catch((error: unknown) => (isStockUnavailable(error) ? 'unavailable' : String(error)));
/** Of one that is meant to find Redis away: why. */
const failureOf = (number: number): Promise<string> =>
  ask(number).catch((error: unknown) => (isStockUnavailable(error) ? error.message : String(error)));
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

it('a replica fails all of a call with its reason: they are not asked for again on a connection that is being left', async () => {
  await reserve(999);
  await redis.replicaof('127.0.0.1', 1);

  const failures = await Promise.all([0, 1, 2].map(failureOf));

  await redis.replicaof('NO', 'ONE');
  expect(failures).toEqual([0, 1, 2].map(() => expect.stringContaining('READONLY')));
  await waitUntil(() => stock.ping().then(() => true), { what: 'Redis to answer again' });
  expect(await reserve(0)).toBe('reserved');
});

it('a call that failed half way, for a right that a later write lacks, takes no units a second time', async () => {
  await redis.call('ACL', 'SETUSER', 'default', '-sadd');

  const failures = await Promise.all([0, 1, 2].map(failureOf));

  await redis.call('ACL', 'SETUSER', 'default', '+sadd');
  expect(failures).toEqual([0, 1, 2].map(() => expect.stringMatching(/can't run this command|ACL failure/)));
  expect(await stock.readCounts(activityId)).toMatchObject({ stock: 997, held: 0 });
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

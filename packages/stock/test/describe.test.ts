import { createLogger } from '@lapse/runtime';
import { createTestRedis } from '@lapse/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStock, type Stock } from '../src/index.ts';
import { emptySnapshot } from './open-test-stock.ts';

const redis = await createTestRedis();
let stock: Stock;
beforeAll(async () => {
  stock = await openStock({ url: redis.url, commandTimeoutMs: 2_000 }, createLogger('test', 'silent'));
});
afterAll(async () => {
  await stock.close();
  await redis.close();
});

it('the server says its version, role and eviction policy, by INFO alone', async () => {
  const [server, ...others] = await stock.describeServers();
  expect(others).toEqual([]);
  expect(server).toMatchObject({ role: 'master', evictionPolicy: 'noeviction', lastSaveFailed: false });
  expect(server?.version).toMatch(/^\d+\.\d+/);
});

it('the hold of one order: held, released, none, or a value that nobody can read', async () => {
  const [activityId, orderId] = [77, '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001'];
  const stockRunId = await stock.load(emptySnapshot(activityId, 3), '');
  expect(await stock.readHold(activityId, orderId)).toEqual({ kind: 'none' });
  await stock.reserve({ activityId, generation: 1, stockRunId, orderId, userId: 'ann', quantity: 2 });
  expect(await stock.readHold(activityId, orderId)).toMatchObject({
    kind: 'hold',
    hold: { state: 'held', quantity: 2, userId: 'ann' },
  });
  await stock.release(activityId, [orderId]);
  expect(await stock.readHold(activityId, orderId)).toMatchObject({ hold: { state: 'released' } });
  await redis.command('hset', `activity:{${activityId}}:holds`, orderId, 'nonsense');
  expect(await stock.readHold(activityId, orderId)).toEqual({ kind: 'unreadable', text: 'nonsense' });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedisCluster } from '@lapse/local-services';
import { createLogger } from '@lapse/runtime';
import { documentedLines, redisAt, waitUntil } from '@lapse/testing';
import { Cluster, ReplyError } from 'ioredis';
import { afterAll, describe, expect, it } from 'vitest';
import { hashSlot } from '../src/hash-slot.ts';
import { isStockUnavailable, openStock } from '../src/index.ts';
import { stagedKeys, stockKeys } from '../src/stock-keys.ts';
import { emptySnapshot, loadOver, useStore } from './open-test-stock.ts';

const dir = await mkdtemp(join(tmpdir(), 'lapse-stock-cluster-'));
const cluster = await startRedisCluster({ dir, log: () => undefined });
afterAll(async () => {
  await cluster.close();
  await rm(dir, { recursive: true, force: true });
});

// The same tests, unchanged, with their activities spread over the three nodes.
useStore(cluster.url);
const sameTests = [
  'stock',
  'gather-reserves',
  'load-stock',
  'reacquire',
  'set-capacity',
  'stock-model',
  'inspect-stock',
  'seen-buyers',
];
describe.each(sameTests)('on a cluster: %s', async (name) => {
  await import(`./${name}.test.ts`);
});

const log = createLogger('test', 'silent');

describe('on a cluster of three', () => {
  it('all keys of an activity are in one slot, so no command can cross slots; two activities do cross', async () => {
    const redis = new Cluster([{ host: '127.0.0.1', port: cluster.ports['redis-1'] ?? 0 }]);
    for (const activityId of [1, 42, 999_999_999, Number.MAX_SAFE_INTEGER]) {
      const keys = [
        ...Object.values(stockKeys(activityId)),
        ...Object.values(stagedKeys(activityId, 'token')),
      ];
      const slots = await Promise.all(keys.map((key) => redis.cluster('KEYSLOT', key)));
      expect(new Set(slots)).toEqual(new Set([hashSlot(activityId)]));
    }
    // Negative control: it is the hash tag that does it.
    const crossed = redis.exists('activity:{1}:stock', 'activity:{2}:stock');
    await expect(crossed).rejects.toSatisfy((error) => error instanceof ReplyError);
    await redis.quit();
  });

  it('a user with the rights of the page, and those that it names for a cluster, comes by with them', async () => {
    for (const node of ['redis-1', 'redis-2', 'redis-3']) {
      for (const line of documentedLines(/^ACL SETUSER lapse /)) {
        const [name = '', ...args] = line.replace('>PASSWORD', '>secret').split(' ');
        await redisAt(`redis://127.0.0.1:${cluster.ports[node]}`).command(name, ...args);
      }
    }
    const url = cluster.url.replace('//', '//lapse:secret@');
    const stock = await openStock({ url, commandTimeoutMs: 1_000 }, log);
    const stockRunId = await loadOver(stock, emptySnapshot(77, 1));
    const order = { activityId: 77, generation: 1, stockRunId, orderId: 'o1', userId: 'u1', quantity: 1 };
    expect(await stock.reserve(order)).toEqual({ kind: 'reserved' });
    await stock.close();
  });

  it('each node describes itself', async () => {
    const stock = await openStock({ url: cluster.url, commandTimeoutMs: 1_000 }, log);
    const servers = await stock.describeServers();
    expect(new Set(servers.map(({ runId }) => runId)).size).toBe(3);
    await stock.close();
  });

  it('a node that is killed takes its activities alone; started again it refuses them until they are loaded', async () => {
    const stock = await openStock({ url: cluster.url, commandTimeoutMs: 1_000 }, log);
    // One activity on each node.
    const byNode = new Map<number, number>();
    for (let id = 100_000; byNode.size < 3; id += 1) {
      const node = Math.floor((hashSlot(id) * 3) / 16_384);
      if (!byNode.has(node)) byNode.set(node, id);
    }
    const [first = 0, second = 0, third = 0] = [0, 1, 2].map((node) => byNode.get(node));
    const runIds = new Map<number, string>();
    for (const id of [first, second, third]) runIds.set(id, await loadOver(stock, emptySnapshot(id, 5)));
    expect(new Set(runIds.values()).size).toBe(3);
    const reserve = async (activityId: number, orderId: string) => {
      const stockRunId = runIds.get(activityId) ?? null;
      const order = { activityId, generation: 1, stockRunId, orderId, userId: orderId, quantity: 1 };
      return (await stock.reserve(order)).kind;
    };
    for (const id of [first, second, third]) expect(await reserve(id, 'before')).toBe('reserved');

    cluster.kill('SIGKILL', 'redis-2');
    await waitUntil(() => cluster.pids.length === 2, { what: 'the node to be gone' });
    await expect(reserve(second, 'meanwhile')).rejects.toSatisfy(isStockUnavailable);
    await expect(stock.ping()).rejects.toSatisfy(isStockUnavailable);
    await cluster.start();
    await waitUntil(() => stock.ping().then(() => true), { what: 'all nodes to answer' });

    for (const id of [first, third]) expect(await reserve(id, 'after')).toBe('reserved');
    expect(await reserve(second, 'after')).toBe('not_ready');
    // A node takes no writes in its first two seconds.
    const load = () => loadOver(stock, emptySnapshot(second, 5));
    runIds.set(second, await waitUntil(load, { what: 'the node to take writes' }));
    expect(await reserve(second, 'loaded')).toBe('reserved');
    await stock.close();
  });

  it('opens without the cluster and serves once it is there', async () => {
    await cluster.stop();
    const early = await openStock({ url: cluster.url, commandTimeoutMs: 500 }, log);
    await expect(early.ping()).rejects.toSatisfy(isStockUnavailable);
    await expect(early.release(1, ['o1'])).rejects.toSatisfy(isStockUnavailable);
    await cluster.start();
    await waitUntil(() => early.ping().then(() => true), {
      what: 'the cluster to answer',
      timeoutMs: 20_000,
    });
    await waitUntil(() => loadOver(early, emptySnapshot(1, 5)), { what: 'the node to take writes' });
    expect(await early.release(1, ['o1'])).toEqual({ kind: 'done', units: [0] });
    await early.close();
  });
});

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { createLogger } from '@lapse/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStock } from '../src/index.ts';
import { emptySnapshot, openTestStock, snapshotOf, type TestStock } from './open-test-stock.ts';

/** Where a load is cut off, in bytes since it began: all of its first commands, and some of the later ones. */
const cutsAtBytes = Array.from({ length: 24 }, (_, index) => 1_000 + index * 5_000);

let own: TestStock;
beforeAll(async () => {
  own = await openTestStock();
});
afterAll(() => own.close());

/** A way to Redis that ends, as with the process at its other end, once so many bytes of the load have passed. */
async function openShortWay(url: string, bytesMax: number) {
  const { port, pathname } = new URL(url);
  const ended: Promise<unknown>[] = [];
  const relay = createServer((client) => {
    const server = connect({ host: '127.0.0.1', port: Number(port) });
    // Redis carries out what has arrived before it closes.
    ended.push(once(server, 'close'));
    let left = bytesMax;
    server.on('data', (answer) => client.write(answer));
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.on('close', () => server.end());
    client.on('data', (data) => {
      // The connection's own greetings are short.
      if (data.length < 500) return server.write(data);
      const part = data.subarray(0, left);
      left -= part.length;
      server.write(part);
      if (left > 0) return undefined;
      server.end();
      return client.destroy();
    });
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const address = relay.address();
  return {
    url: `redis://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}${pathname}`,
    close: async () => {
      relay.close();
      await Promise.all(ended);
    },
  };
}

it('the map of buyers of a load that was cut off disappears by itself too', async () => {
  const formerBuyers = Array.from({ length: 5_000 }, (_, index) => `buyer-${index}`);
  let left = 0;
  for (const [index, bytesMax] of [10_000, 70_000, 300_000].entries()) {
    const activityId = 1_000 + index;
    const way = await openShortWay(own.url, bytesMax);
    const stock = await openStock({ url: way.url, commandTimeoutMs: 2_000 }, createLogger('test', 'silent'));
    const snapshot = { ...emptySnapshot(activityId, 100_000), formerBuyers };
    await expect(stock.load(snapshot, '')).rejects.toThrow();
    await stock.close();
    await way.close();
    for (const key of await own.keysOf(activityId)) {
      expect(await own.redis.ttl(key), `${key} after ${bytesMax} bytes`).toBeGreaterThan(0);
      left += 1;
    }
  }
  expect(left).toBe(3);
});

it('what a load leaves behind when its process dies in the middle disappears by itself, wherever it was cut off', async () => {
  const holds = Array.from({ length: 3_000 }, (_, i) => ({
    orderId: `order ${i}`,
    userId: `user ${i}`,
    quantity: 1,
    state: 'held' as const,
  }));
  let left = 0;
  for (const [index, bytesMax] of cutsAtBytes.entries()) {
    const activityId = index + 1;
    const way = await openShortWay(own.url, bytesMax);
    const stock = await openStock({ url: way.url, commandTimeoutMs: 2_000 }, createLogger('test', 'silent'));
    await expect(stock.load(snapshotOf(activityId, 1, 0, holds), '')).rejects.toThrow();
    await stock.close();
    await way.close();
    const keys = await own.keysOf(activityId);
    for (const key of keys)
      expect(await own.redis.ttl(key), `${key} after ${bytesMax} bytes`).toBeGreaterThan(0);
    left += keys.length;
  }
  // Negative control: loads were cut off with their keys there.
  expect(left).toBeGreaterThan(10);
});

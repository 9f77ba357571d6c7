import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { createLogger } from '@lapse/runtime';
import { waitUntil } from '@lapse/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { isStockUnavailable, openStock, type Stock } from '../src/index.ts';
import { emptySnapshot, loadOver, openTestStock, type TestStock } from './open-test-stock.ts';

/**
 * A relay to Redis that cuts a connection at the worst moment: the command has been carried out and its answer is on
 * the way back.
 */
async function openCutter(url: string) {
  const { port, pathname } = new URL(url);
  const sockets = new Set<Socket>();
  let armed = false;
  let cuts = 0;
  const relay = createServer((client) => {
    const server = connect({ host: '127.0.0.1', port: Number(port) });
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server);
    server.on('data', (answer) => {
      if (!armed) return client.write(answer);
      armed = false;
      cuts += 1;
      client.destroy();
      return server.destroy();
    });
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const address = relay.address();
  return {
    url: `redis://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}${pathname}`,
    /** The next answer is lost, and its connection with it. */
    arm: () => {
      armed = true;
    },
    cuts: () => cuts,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      relay.close();
      await once(relay, 'close');
    },
  };
}

let own: TestStock;
let cutter: Awaited<ReturnType<typeof openCutter>>;
let stock: Stock;
let activityId = 0;

beforeAll(async () => {
  own = await openTestStock();
  cutter = await openCutter(own.url);
  stock = await openStock({ url: cutter.url, commandTimeoutMs: 2_000 }, createLogger('test', 'silent'));
});
afterAll(async () => {
  await stock.close();
  await cutter.close();
  await own.close();
});
beforeEach(async () => {
  activityId += 1;
  await loadOver(own.stock, emptySnapshot(activityId, 10));
  await own.stock.release(activityId, ['warm up']);
});

const reserve = (on: Stock, orderId: string) =>
  on.reserve({
    activityId,
    generation: 1,
    stockRunId: own.runIdOf(activityId),
    orderId,
    userId: `user of ${orderId}`,
    quantity: 2,
  });
const again = { orderId: 'o1', userId: 'user of o1', quantity: 2 };
const operations: [
  name: string,
  before: () => Promise<unknown>,
  operation: () => Promise<unknown>,
  after: object,
][] = [
  ['reserve', async () => undefined, () => reserve(stock, 'o1'), { stock: 8, held: 2, sold: 0, users: 1 }],
  [
    'release',
    () => reserve(own.stock, 'o1'),
    () => stock.release(activityId, ['o1']),
    { stock: 10, held: 0, sold: 0, users: 0 },
  ],
  [
    'confirm',
    () => reserve(own.stock, 'o1'),
    () => stock.confirm(activityId, ['o1']),
    { stock: 8, held: 0, sold: 2, users: 1 },
  ],
  [
    'reacquire',
    async () => undefined,
    () => stock.reacquire(activityId, [again]),
    { stock: 8, held: 0, sold: 2, users: 1 },
  ],
  [
    'setCapacity',
    async () => undefined,
    () => stock.setCapacity(activityId, 2, 15),
    { stock: 15, held: 0, sold: 0, users: 0 },
  ],
];

it.each(operations)(
  '%s: its answer is lost with the connection; it fails, is not sent again unasked, and the repeat counts once',
  async (_name, before, operation, after) => {
    await before();
    await waitUntil(() => stock.ping().then(() => true), { what: 'the connection' });
    // The script is known to the server and the run id to the connection: one round trip is left to cut.
    await stock.readLoad(activityId);
    await reserve(stock, 'nobody').catch(() => undefined);
    await stock.release(activityId, ['nobody']);
    const cutsBefore = cutter.cuts();
    cutter.arm();

    await expect(operation()).rejects.toSatisfy(isStockUnavailable);

    expect(cutter.cuts()).toBe(cutsBefore + 1);
    await waitUntil(() => stock.ping().then(() => true), { what: 'the connection to be back' });
    for (let time = 0; time < 2; time += 1) await operation();
    expect(await own.stock.readCounts(activityId)).toMatchObject(after);
  },
);

it('negative control: a plain decrement that is sent again after such a cut counts twice', async () => {
  // ioredis as it comes: what was not answered is sent again.
  const redis = new Redis(cutter.url);
  await redis.ping();
  cutter.arm();
  await redis.decrby(`activity:{${activityId}}:stock`, 2);
  expect(await own.redis.get(`activity:{${activityId}}:stock`)).toBe('6');
  redis.disconnect();
});

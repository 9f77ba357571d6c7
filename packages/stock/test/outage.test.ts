import { PassThrough } from 'node:stream';
import { createLogger, type Logger } from '@lapse/runtime';
import { waitUntil } from '@lapse/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isStockUnavailable, openStock, type Stock } from '../src/index.ts';
import { emptySnapshot, loadOver } from './open-test-stock.ts';
import { createPrivateRedis, type PrivateRedis } from './private-redis.ts';

const commandTimeoutMs = 500;
let server: PrivateRedis;
let stock: Stock;
let lines: { level: string; msg: string }[];

/** A log whose lines the test can count. */
function collectingLog(): Logger {
  const own: typeof lines = [];
  lines = own;
  const stream = new PassThrough();
  // Not into `lines`: the last line of the test before may still be under way.
  stream.on('data', (line: Buffer) => own.push(JSON.parse(line.toString())));
  return createLogger('test', 'info', stream);
}

/** As a caller that reads the activity from MySQL, where the sweeper has noted the server of today. */
const reserve = async (orderId: string) => {
  const load = await stock.readLoad(1);
  const stockRunId = load?.runId ?? null;
  return stock.reserve({ activityId: 1, generation: 1, stockRunId, orderId, userId: orderId, quantity: 1 });
};

const answers = async (one: Stock): Promise<boolean> => {
  await one.ping();
  return true;
};
const ready = () => waitUntil(() => answers(stock), { what: 'Redis to answer again' });

beforeAll(async () => {
  server = await createPrivateRedis();
});
afterAll(() => server.remove());
beforeEach(async () => {
  stock = await openStock({ url: server.url, commandTimeoutMs }, collectingLog());
  await loadOver(stock, emptySnapshot(1, 1_000));
  return async () => {
    await stock.close();
    await stock.close();
  };
});

describe('while Redis is away', () => {
  it('every operation fails at once, and is recognisable', async () => {
    await server.kill();
    const startedAt = performance.now();
    const failing = [
      reserve('o1'),
      stock.release(1, ['o1']),
      stock.confirm(1, ['o1']),
      stock.ping(),
      stock.load(emptySnapshot(1, 1), ''),
      stock.readCounts(1),
      stock.readLoad(1),
    ];
    for (const result of await Promise.allSettled(failing)) {
      expect(result.status).toBe('rejected');
      expect(isStockUnavailable(result.status === 'rejected' && result.reason)).toBe(true);
    }
    expect(performance.now() - startedAt).toBeLessThan(commandTimeoutMs);
    await server.start();
  });

  it('a restarted Redis is used again by itself, with what it kept; one line tells of each outage', async () => {
    for (const outage of [1, 2]) {
      let attempts = 0;
      await reserve(`kept${outage}`);
      await server.kill();
      await waitUntil(
        () =>
          reserve('away').then(
            () => false,
            () => true,
          ),
        { what: 'a failure' },
      );
      // Long enough for several attempts to connect.
      await waitUntil(() => reserve('away').catch(() => ++attempts > 20), { what: 'attempts', everyMs: 50 });
      await server.start();
      await ready();
      expect(await stock.readCounts(1)).toMatchObject({ held: outage, stock: 1_000 - outage });
      await waitUntil(() => lines.length >= outage * 2, { what: 'a line that Redis is back' });
      expect(lines.map(({ msg }) => msg)).toEqual(
        Array.from({ length: outage }, () => [
          'Redis is away; stock operations fail until it is back',
          'Redis is back',
        ]).flat(),
      );
    }
  });

  it('a process starts without Redis, is not ready, and serves when Redis is there', async () => {
    await server.kill();
    const early = await openStock({ url: server.url, commandTimeoutMs }, createLogger('test', 'silent'));
    await expect(early.ping()).rejects.toSatisfy(isStockUnavailable);
    await server.start();
    await waitUntil(() => answers(early), { what: 'Redis to answer' });
    expect(await early.readLoad(1)).toMatchObject({ generation: 1 });
    await early.close();
  });
});

describe('a Redis that is killed under load', () => {
  it('leaves every order reserved or not, and repeating all of them takes each once', async () => {
    const orders = Array.from({ length: 300 }, (_, i) => `o${i}`);
    const first = Promise.allSettled(orders.map((order) => reserve(order)));
    await server.kill();
    for (const result of await first) {
      if (result.status === 'rejected') expect(isStockUnavailable(result.reason)).toBe(true);
    }
    await server.start();
    await ready();
    for (const order of orders) expect(await reserve(order)).toEqual({ kind: 'reserved' });
    expect(await stock.readCounts(1)).toMatchObject({ stock: 700, held: 300, users: 300 });
    const answer = await stock.release(1, orders);
    expect(answer.kind === 'done' && answer.units.every((units) => units === 1)).toBe(true);
    await server.kill();
    await server.start();
    await ready();
    expect(await stock.release(1, orders)).toEqual({ kind: 'done', units: orders.map(() => 0) });
    expect(await stock.readCounts(1)).toMatchObject({ stock: 1_000, held: 0, users: 0 });
  });
});

describe('a connection that drops', () => {
  it('fails what was in flight at once, long before a command would time out', async () => {
    const patient = await openStock(
      { url: server.url, commandTimeoutMs: 20_000 },
      createLogger('test', 'silent'),
    );
    server.freeze();
    const waiting = patient.release(1, ['o1']);
    const failed = expect(waiting).rejects.toSatisfy(isStockUnavailable);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const droppedAt = performance.now();
    await server.kill();
    await failed;
    expect(performance.now() - droppedAt).toBeLessThan(5_000);
    await patient.close();
    await server.start();
    await ready();
  });
});

describe('a Redis that stands still', () => {
  it('fails commands in bounded time, then at once, and nothing is sent later behind their back', async () => {
    server.freeze();
    const startedAt = performance.now();
    const waiting = [reserve('frozen1')];
    await new Promise(setImmediate);
    waiting.push(reserve('frozen2'));
    for (const result of await Promise.allSettled(waiting)) {
      expect(isStockUnavailable(result.status === 'rejected' && result.reason)).toBe(true);
    }
    expect(performance.now() - startedAt).toBeLessThan(3 * commandTimeoutMs);
    await waitUntil(
      async () => {
        const askedAt = performance.now();
        await reserve('later').catch(() => undefined);
        return performance.now() - askedAt < 50;
      },
      { what: 'commands to fail at once' },
    );
    server.thaw();
    await ready();
    expect(await stock.release(1, ['frozen1', 'frozen2', 'later'])).toMatchObject({ kind: 'done' });
    expect(await reserve('later')).toEqual({ kind: 'released' });
    expect(await stock.readCounts(1)).toMatchObject({ stock: 1_000, held: 0, users: 0 });
  });

  it('does not hold up close', async () => {
    const other = await openStock({ url: server.url, commandTimeoutMs }, createLogger('test', 'silent'));
    server.freeze();
    const startedAt = performance.now();
    await other.close();
    expect(performance.now() - startedAt).toBeLessThan(3 * commandTimeoutMs);
    server.thaw();
  });
});

describe('a Redis that is there and cannot write', () => {
  it('counts as away when it is out of memory, and as not loaded when a key is of another kind', async () => {
    const redis = new Redis(server.url);
    await redis.config('SET', 'maxmemory', '1');
    await expect(reserve('full')).rejects.toSatisfy(isStockUnavailable);
    await redis.config('SET', 'maxmemory', '0');
    await redis.del('activity:{1}:users');
    await redis.set('activity:{1}:users', 'not a set');
    expect(await reserve('wrong kind')).toEqual({ kind: 'not_ready' });
    await redis.quit();
  });
});

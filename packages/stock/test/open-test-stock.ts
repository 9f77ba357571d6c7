import { createLogger } from '@lapse/runtime';
import { createTestRedis, type TestRedis } from '@lapse/testing';
import { Redis } from 'ioredis';
import { type Hold, openStock, type Stock, type StockSnapshot } from '../src/index.ts';

export interface TestStock {
  readonly stock: Stock;
  /** Of the server of the tests. */
  readonly runId: string;
  /** The same database, read and written behind the package's back. */
  readonly redis: Redis;
  readonly store: TestRedis;
  close(): Promise<void>;
}

/** A stock in a Redis database of its own. */
export async function openTestStock(): Promise<TestStock> {
  const store = await createTestRedis();
  const stock = await openStock({ url: store.url, commandTimeoutMs: 5_000 }, createLogger('test', 'silent'));
  const redis = new Redis(store.url);
  return {
    stock,
    runId: await readRunId(redis),
    redis,
    store,
    close: async () => {
      await stock.close();
      await redis.quit();
      await store.close();
    },
  };
}

/** As the server itself says it, past the package. */
export async function readRunId(redis: Redis): Promise<string> {
  return /run_id:(\w+)/.exec(await redis.info('server'))?.[1] ?? '';
}

/** An activity with nothing sold. */
export function emptySnapshot(activityId: number, stock: number, generation = 1): StockSnapshot {
  return snapshotOf(activityId, generation, stock, []);
}

/** Any snapshot whose units add up. */
export function snapshotOf(
  activityId: number,
  generation: number,
  stock: number,
  holds: StockSnapshot['holds'],
): StockSnapshot {
  const capacity = holds.reduce((units, { quantity }) => units + quantity, stock);
  return { activityId, generation, capacity, capacityVersion: 1, stock, holds };
}

/** All that is held for longer than `olderThanMs`. */
export async function listHeld(stock: Stock, activityId: number, olderThanMs: number): Promise<Hold[]> {
  const held: Hold[] = [];
  const ages = { heldMs: olderThanMs, releasedMs: Number.POSITIVE_INFINITY };
  for await (const batch of stock.scanOld(activityId, ages)) held.push(...batch);
  return held;
}

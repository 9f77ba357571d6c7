import { createHash } from 'node:crypto';
import { createLogger, readRedisAddress } from '@lapse/runtime';
import { createTestRedis } from '@lapse/testing';
import { Cluster, Redis } from 'ioredis';
import { hashSlot } from '../src/hash-slot.ts';
import { type Hold, openStock, type Stock, type StockSnapshot } from '../src/index.ts';

export interface TestStock {
  readonly stock: Stock;
  readonly url: string;
  /** The same database, read and written behind the package's back. */
  readonly redis: Redis | Cluster;
  /** Run id of the server that has the activity. */
  runIdOf(activityId: number): string;
  /** All keys of an activity. */
  keysOf(activityId: number): Promise<string[]>;
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface TestStore {
  readonly url: string;
  /** The same place for the test itself, where the stock's own user may not do what tests do. */
  readonly behindUrl?: string;
  readonly close: () => Promise<void>;
}

let openStore: () => Promise<TestStore> = createTestRedis;

/** From now on test stocks are on this server or cluster, and not on a database of the shared one. */
export function useStore(url: string, behindUrl = url): void {
  openStore = async () => ({ url, behindUrl, close: async () => undefined });
}

/** A stock in a Redis database of its own. */
export async function openTestStock(): Promise<TestStock> {
  const store = await openStore();
  const stock = await openStock({ url: store.url, commandTimeoutMs: 5_000 }, createLogger('test', 'silent'));
  const address = readRedisAddress(store);
  const redis =
    address.kind === 'cluster' ? new Cluster([...address.nodes]) : new Redis(store.behindUrl ?? store.url);
  await redis.ping();
  const masters = redis instanceof Cluster ? redis.nodes('master') : [redis];
  const runIds = new Map<Redis, string>();
  for (const master of masters) runIds.set(master, await readRunId(master));
  // A database of its own is empty already.
  if (openStore !== createTestRedis) await Promise.all(masters.map((master) => master.flushdb()));
  const masterOf = (activityId: number): Redis => {
    if (redis instanceof Redis) return redis;
    const owner = redis.slots[hashSlot(activityId)]?.[0];
    const master = masters.find(({ options }) => `${options.host}:${options.port}` === owner);
    if (master === undefined) throw new Error(`no master for activity ${activityId}`);
    return master;
  };
  return {
    stock,
    url: store.url,
    redis,
    runIdOf: (activityId) => runIds.get(masterOf(activityId)) ?? '',
    keysOf: (activityId) => masterOf(activityId).keys(`activity:{${activityId}}:*`),
    flush: async () => {
      await Promise.all(masters.map((master) => master.flushdb()));
    },
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
  return { activityId, generation, capacity, capacityVersion: 1, stock, holds, formerBuyers: [] };
}

/** All that is held for longer than `olderThanMs`. */
export async function listHeld(stock: Stock, activityId: number, olderThanMs: number): Promise<Hold[]> {
  const held: Hold[] = [];
  const ages = { heldMs: olderThanMs, releasedMs: Number.POSITIVE_INFINITY };
  for await (const batch of stock.scanOld(activityId, ages)) held.push(...batch);
  return held;
}

/** Load in the place of what is there, as the caller that holds the activity's lock. */
export async function loadOver(stock: Stock, snapshot: StockSnapshot): Promise<string> {
  return stock.load(snapshot, await stock.readLoadToken(snapshot.activityId));
}

/** An order's id, always the same for the name that a test gives it. */
export function idOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}

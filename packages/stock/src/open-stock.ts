import type { Closable, Logger } from '@lapse/runtime';
import { loadStock, type StockSnapshot } from './load-stock.ts';
import { type ReacquiredOrder, type ReacquireResult, reacquire } from './reacquire.ts';
import { type Hold, pruneReleased, readCounts, type StockCounts, scanHeld } from './read-holds.ts';
import { connectRedis, type RedisClient } from './redis-client.ts';
import { type Reservation, type ReserveResult, reserve } from './reserve.ts';
import { defineScripts } from './scripts.ts';
import { type CapacityResult, setCapacity } from './set-capacity.ts';
import { type SettleResult, settleHolds } from './settle.ts';
import { stockKeys } from './stock-keys.ts';

export interface StockConfig {
  /** `redis://` or `rediss://`, with the database's number as its path. */
  readonly url: string;
  /** How long one command may take. Behind a Redis that stands still, a command waits at most twice as long. */
  readonly commandTimeoutMs: number;
}

/**
 * The stock in Redis. MySQL decides and Redis follows, so every operation may be repeated any number of times and
 * in any order. While Redis is away each fails at once with a StockUnavailableError.
 */
export interface Stock extends Closable {
  ping(): Promise<void>;
  reserve(reservation: Reservation): Promise<ReserveResult>;
  release(activityId: number, orderIds: readonly string[]): Promise<SettleResult>;
  confirm(activityId: number, orderIds: readonly string[]): Promise<SettleResult>;
  reacquire(activityId: number, orders: readonly ReacquiredOrder[]): Promise<ReacquireResult>;
  setCapacity(activityId: number, version: number, capacity: number): Promise<CapacityResult>;
  load(snapshot: StockSnapshot): Promise<void>;
  /** Generation each activity was loaded under, in input order; null: not loaded. */
  readGenerations(activityIds: readonly number[]): Promise<(number | null)[]>;
  readCounts(activityId: number): Promise<StockCounts | null>;
  scanHeld(activityId: number, filter: { olderThanMs: number }): AsyncIterable<Hold[]>;
  pruneReleased(activityId: number, filter: { olderThanMs: number }): Promise<number>;
}

/**
 * Open the stock. Resolves without Redis too, after `commandTimeoutMs`: a process starts, reports itself not ready
 * by `ping`, and serves when Redis is there.
 */
export async function openStock(config: StockConfig, log: Logger): Promise<Stock> {
  const client = await connectRedis(config, log);
  const scripts = defineScripts(client.redis);
  return {
    ping: async () => {
      await client.ask('answer a ping', (redis) => redis.ping());
    },
    reserve: (reservation) => reserve(client, scripts, reservation),
    release: (activityId, orderIds) => settleHolds(client, scripts, 'release', activityId, orderIds),
    confirm: (activityId, orderIds) => settleHolds(client, scripts, 'confirm', activityId, orderIds),
    reacquire: (activityId, orders) => reacquire(client, scripts, activityId, orders),
    setCapacity: (activityId, version, capacity) =>
      setCapacity(client, scripts, activityId, version, capacity),
    load: (snapshot) => loadStock(client, scripts, snapshot),
    readGenerations: (activityIds) => readGenerations(client, activityIds),
    readCounts: (activityId) => readCounts(client, activityId),
    scanHeld: (activityId, filter) => scanHeld(client, activityId, filter),
    pruneReleased: (activityId, filter) => pruneReleased(client, scripts, activityId, filter),
    close: client.close,
  };
}

/**
 * Sent together, two commands each: MGET over several activities would cross slots in a cluster. A generation
 * whose counter is gone (evicted, deleted by hand) counts as not loaded: else nobody would ever load it again.
 */
async function readGenerations(
  { ask }: RedisClient,
  activityIds: readonly number[],
): Promise<(number | null)[]> {
  const answers = await ask('read generations', (redis) =>
    Promise.all(
      activityIds.map(stockKeys).map(async ({ generation, stock }) => {
        const [text, counters] = await Promise.all([redis.get(generation), redis.exists(stock)]);
        return counters === 1 ? text : null;
      }),
    ),
  );
  return answers.map((answer) => (answer === null ? null : Number(answer)));
}

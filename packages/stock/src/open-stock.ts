import type { Closable, Logger } from '@lapse/runtime';
import { connectRedis } from './connect-redis.ts';
import { describeServers, type StockServer } from './describe-servers.ts';
import { inspectStock, type StockImage } from './inspect-stock.ts';
import { loadStock, readLoadToken, type StockSnapshot } from './load-stock.ts';
import { peekStock, type StockPeek } from './peek-stock.ts';
import { type ReacquiredOrder, type ReacquireResult, reacquire } from './reacquire.ts';
import { type HoldLook, readHold } from './read-hold.ts';
import { forgetReleased, type OldHolds, readCounts, type StockCounts, scanOld } from './read-holds.ts';
import { type LoadedStock, readLoad } from './read-load.ts';
import { type Reservation, type ReserveResult, reserve } from './reserve.ts';
import { type CapacityResult, setCapacity } from './set-capacity.ts';
import { type SettleResult, settleHolds } from './settle.ts';
import type { Hold } from './stock-hold.ts';

export interface StockConfig {
  /**
   * `redis://` or `rediss://`, with the database's number as its path; or a cluster, `redis-cluster://host:port,…`
   * (`rediss-cluster://` for TLS).
   */
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
  describeServers(): Promise<StockServer[]>;
  reserve(reservation: Reservation): Promise<ReserveResult>;
  release(activityId: number, orderIds: readonly string[]): Promise<SettleResult>;
  confirm(activityId: number, orderIds: readonly string[]): Promise<SettleResult>;
  reacquire(activityId: number, orders: readonly ReacquiredOrder[]): Promise<ReacquireResult>;
  setCapacity(activityId: number, version: number, capacity: number): Promise<CapacityResult>;
  /** @returns the run id of the server that has it now. */
  load(snapshot: StockSnapshot, replaces: string): Promise<string>;
  readLoadToken(activityId: number): Promise<string>;
  readLoad(activityId: number): Promise<LoadedStock | null>;
  readCounts(activityId: number): Promise<StockCounts | null>;
  inspect(activityId: number): Promise<StockImage>;
  peek(activityId: number): Promise<StockPeek | null>;
  readHold(activityId: number, orderId: string): Promise<HoldLook>;
  scanOld(activityId: number, ages: OldHolds): AsyncIterable<Hold[]>;
  forgetReleased(
    activityId: number,
    orderIds: readonly string[],
    filter: { olderThanMs: number },
  ): Promise<number>;
}

/**
 * Open the stock. Resolves without Redis too, after `commandTimeoutMs`: a process starts, reports itself not ready
 * by `ping`, and serves when Redis is there.
 */
export async function openStock(config: StockConfig, log: Logger): Promise<Stock> {
  const client = await connectRedis(config, log);
  return {
    ping: client.ping,
    describeServers: () => describeServers(client),
    reserve: (reservation) => reserve(client, reservation),
    release: (activityId, orderIds) => settleHolds(client, 'release', activityId, orderIds),
    confirm: (activityId, orderIds) => settleHolds(client, 'confirm', activityId, orderIds),
    reacquire: (activityId, orders) => reacquire(client, activityId, orders),
    setCapacity: (activityId, version, capacity) => setCapacity(client, activityId, version, capacity),
    load: (snapshot, replaces) => loadStock(client, snapshot, replaces),
    readLoadToken: (activityId) => readLoadToken(client, activityId),
    readLoad: (activityId) => readLoad(client, activityId),
    readCounts: (activityId) => readCounts(client, activityId),
    inspect: (activityId) => inspectStock(client, activityId),
    peek: (activityId) => peekStock(client, activityId),
    readHold: (activityId, orderId) => readHold(client, activityId, orderId),
    scanOld: (activityId, ages) => scanOld(client, activityId, ages),
    forgetReleased: (activityId, orderIds, filter) => forgetReleased(client, activityId, orderIds, filter),
    close: client.close,
  };
}

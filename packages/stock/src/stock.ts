import type { Closable } from '@lapse/runtime';
import type { StockServer } from './describe-servers.ts';
import type { StockImage } from './inspect-stock.ts';
import type { StockSnapshot } from './load-stock.ts';
import type { StockPeek } from './peek-stock.ts';
import type { ReacquiredOrder, ReacquireResult } from './reacquire.ts';
import type { HoldLook } from './read-hold.ts';
import type { OldHolds, StockCounts } from './read-holds.ts';
import type { LoadedStock } from './read-load.ts';
import type { Reservation, ReserveResult } from './reserve.ts';
import type { CapacityResult } from './set-capacity.ts';
import type { SettleResult } from './settle.ts';
import type { Hold } from './stock-hold.ts';

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
  forget(activityId: number): Promise<void>;
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

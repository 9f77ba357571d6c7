export type { StockSnapshot } from './load-stock.ts';
export { openStock, type Stock, type StockConfig } from './open-stock.ts';
export type { ReacquiredOrder, ReacquireResult } from './reacquire.ts';
export type { Hold, StockCounts } from './read-holds.ts';
export type { Reservation, ReserveResult } from './reserve.ts';
export type { CapacityResult } from './set-capacity.ts';
export type { SettleResult } from './settle.ts';
export { isStockUnavailable, StockUnavailableError } from './stock-unavailable.ts';

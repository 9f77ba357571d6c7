import { sleep } from '@lapse/runtime';
import type { Redis } from 'ioredis';
import type { Pool, RowDataPacket } from 'mysql2/promise';

/** Free places in each store. */
export interface PlacesFree {
  readonly mysql: number;
  readonly redis: number;
}

export interface ClosedAt {
  /** When both stores were seen to be whole, or the last look. */
  readonly atMs: number;
  readonly free: PlacesFree;
  readonly isWhole: boolean;
}

/** A look costs a contender's stores 0.1 ms: at most every hundredth of the time that has passed. */
const lookShare = 0.01;
const lookMs = { min: 5, max: 250 } as const;

/**
 * Watch both stores from outside until all places are back, or nothing has moved for `stallMs`.
 * The time is that of the look which saw it: late by at most a hundredth.
 */
export async function awaitClosed(
  stores: { readonly mysql: Pool; readonly redis: Redis },
  sale: { readonly activityId: number; readonly orders: number; readonly dueAtMs: number },
  stallMs: number,
  signal: AbortSignal,
): Promise<ClosedAt> {
  let seen: PlacesFree = { mysql: -1, redis: -1 };
  let movedAtMs = Math.max(Date.now(), sale.dueAtMs);
  for (;;) {
    const free = await readPlacesFree(stores, sale.activityId);
    const atMs = Date.now();
    const isWhole = free.mysql >= sale.orders && free.redis >= sale.orders;
    if (free.mysql !== seen.mysql || free.redis !== seen.redis) movedAtMs = Math.max(movedAtMs, atMs);
    seen = free;
    if (isWhole || atMs - movedAtMs >= stallMs || signal.aborted) return { atMs, free, isWhole };
    const share = (atMs - sale.dueAtMs) * lookShare;
    await sleep(Math.min(lookMs.max, Math.max(lookMs.min, share)), signal);
  }
}

export async function readPlacesFree(
  { mysql, redis }: { readonly mysql: Pool; readonly redis: Redis },
  activityId: number,
): Promise<PlacesFree> {
  const stock = Number(await redis.get(`activity:{${activityId}}:stock`));
  const [rows] = await mysql.query<RowDataPacket[]>('SELECT available FROM activity WHERE id = ?', [
    activityId,
  ]);
  return { mysql: Number(rows[0]?.available), redis: stock };
}

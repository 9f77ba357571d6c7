import type { OrderStatus } from '@lapse/contracts';
import type { Activity, OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import type { Hold, Stock } from '@lapse/stock';
import { listLiveFirst } from './list-live-first.ts';
import { orphansReleased } from './metrics.ts';

export interface ReleaseOrphansParts {
  readonly orders: Pick<OrderRepository, 'fenceOrphans' | 'listActivities' | 'now' | 'readStatuses'>;
  readonly stock: Pick<Stock, 'confirm' | 'forgetReleased' | 'release' | 'scanOld'>;
  readonly config: {
    /** A hold younger than this may still be written. Ended orders get as long after their pay window. */
    readonly orphansAfterMs: number;
    /** How long the marker of a released order refuses a reserve that comes late. */
    readonly markersKeptMs: number;
  };
  readonly log: Logger;
}

/** Of so many runs one looks at activities that are over too: every ten minutes, at the default LAPSE_ORPHANS_EVERY. */
const runsPerWholeLook = 20;
/** How long a run stays with activities that are over, before the live ones have their next look. */
const overBudgetMs = 20_000;
/** Holds that one statement asks MySQL about, or fences. */
const holdsPerCallMax = 1_000;

/**
 * Give back holds whose order was never written: the producer was killed between the two, and its buyer can buy
 * nothing here until then. MySQL is asked without a lock which orders exist; only one that it does not know is
 * fenced there, so that an insert under way is refused, and then released. Safe beside others.
 *
 * A hold that its order outlived is settled too: Redis had been told, and lost that with a restart that kept
 * only its older data. Also forgets the markers of orders released long ago, which would fill Redis in time. Live
 * activities come first. One that fails does not stop the others; the first error is thrown at the end.
 * @returns how many holds were released.
 */
export function releaseOrphans(parts: ReleaseOrphansParts) {
  const listActivities = listLiveFirst(parts.orders, { runsPerWholeLook, overBudgetMs });
  return async (signal: AbortSignal): Promise<number> => {
    let released = 0;
    let failure: unknown;
    for await (const activity of listActivities(signal)) {
      try {
        released += await settleOldHolds(parts, activity);
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure) throw new Error('holds of at least one activity could not be checked', { cause: failure });
    return released;
  };
}

async function settleOldHolds(
  parts: ReleaseOrphansParts,
  { id: activityId, payWithinMs }: Pick<Activity, 'id' | 'payWithinMs'>,
): Promise<number> {
  const { stock, config } = parts;
  const ages = { heldMs: config.orphansAfterMs, releasedMs: config.markersKeptMs };
  let released = 0;
  for await (const batch of stock.scanOld(activityId, ages)) {
    const markers = batch.filter(({ state }) => state === 'released').map(({ orderId }) => orderId);
    await stock.forgetReleased(activityId, markers, { olderThanMs: config.markersKeptMs });
    const held = batch.filter(({ state }) => state === 'held');
    for (let from = 0; from < held.length; from += holdsPerCallMax) {
      const holds = held.slice(from, from + holdsPerCallMax);
      const statuses = await parts.orders.readStatuses(holds.map(({ orderId }) => orderId));
      // ABORTED: fenced by a run that did not get to the release.
      const unwritten = holds.filter(({ orderId }) => (statuses.get(orderId) ?? 'ABORTED') === 'ABORTED');
      released += await releaseUnwritten(parts, activityId, unwritten);
      // Before that, Redis is only not told yet: the effect's row says so, and somebody is at it.
      const outlivedBefore = parts.orders.now() - payWithinMs - config.orphansAfterMs;
      const old = holds.filter(({ atMs }) => atMs <= outlivedBefore);
      released += await settleEnded(parts, activityId, old, statuses);
    }
  }
  return released;
}

async function releaseUnwritten(
  { orders, stock, log }: ReleaseOrphansParts,
  activityId: number,
  holds: readonly Hold[],
): Promise<number> {
  if (holds.length === 0) return 0;
  const { fenced } = await orders.fenceOrphans(holds.map((hold) => ({ ...hold, activityId })));
  if (fenced.length === 0) return 0;
  await stock.release(activityId, fenced);
  orphansReleased.inc(fenced.length);
  log.warn({ activityId, holds: fenced.length }, 'released holds whose order was never written');
  return fenced.length;
}

async function settleEnded(
  { stock, log }: ReleaseOrphansParts,
  activityId: number,
  holds: readonly Hold[],
  statuses: ReadonlyMap<string, OrderStatus>,
): Promise<number> {
  const idsThat = (matches: (status: OrderStatus) => boolean): string[] =>
    holds.map(({ orderId }) => orderId).filter((id) => matches(statuses.get(id) ?? 'PENDING'));
  const sold = idsThat((status) => status === 'PAID');
  const ended = idsThat((status) => status !== 'PAID' && status !== 'PENDING');
  if (sold.length > 0) await stock.confirm(activityId, sold);
  if (ended.length > 0) await stock.release(activityId, ended);
  if (ended.length + sold.length > 0) {
    const counts = { activityId, ended: ended.length, sold: sold.length };
    log.warn(counts, 'settled holds that Redis had lost track of');
  }
  return ended.length;
}

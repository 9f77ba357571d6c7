import type { OrderStatus } from '@lapse/contracts';
import type { Activity, FenceResult, OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import type { Stock } from '@lapse/stock';
import { listAllActivities } from './list-all-activities.ts';
import { orphansReleased } from './metrics.ts';

export interface ReleaseOrphansParts {
  readonly orders: Pick<OrderRepository, 'fenceOrphans' | 'listActivities'>;
  readonly stock: Pick<Stock, 'confirm' | 'listHeld' | 'pruneReleased' | 'release'>;
  readonly config: {
    /** How long past the pay window of its activity a hold must be. */
    readonly orphansAfterMs: number;
    /** How long the marker of a released order refuses a reserve that comes late. */
    readonly markersKeptMs: number;
  };
  readonly log: Logger;
}

/** Holds looked at in one run and activity; MySQL is asked about them in one statement. */
const holdsPerRunMax = 1_000;

/**
 * Give back holds whose order was never written: the producer was killed between the two. Only holds older
 * than the pay window are looked at, when every real order has ended one way or another, so that a sale
 * with 100,000 pending orders costs MySQL nothing; an orphan thus lapses like an unpaid order. It is fenced
 * in MySQL first, so that an insert under way is refused, and only then released. Safe beside others.
 *
 * A hold of an order that has ended is settled too: Redis had been told, and lost that with a restart that
 * kept only its older data. Also forgets the markers of orders released long ago, which would fill Redis in
 * time. An activity that fails does not stop the others; the first error is thrown at the end.
 * @returns how many holds were released.
 */
export function releaseOrphans(parts: ReleaseOrphansParts) {
  return async (signal: AbortSignal): Promise<number> => {
    let released = 0;
    let failure: unknown;
    for await (const page of listAllActivities(parts.orders, signal)) {
      for (const activity of page) {
        if (signal.aborted) return released;
        try {
          released += await settleOldHolds(parts, activity);
        } catch (error) {
          failure ??= error;
        }
      }
    }
    if (failure) throw new Error('holds of at least one activity could not be checked', { cause: failure });
    return released;
  };
}

async function settleOldHolds(
  { orders, stock, config, log }: ReleaseOrphansParts,
  { id: activityId, payWithinMs }: Pick<Activity, 'id' | 'payWithinMs'>,
): Promise<number> {
  await stock.pruneReleased(activityId, { olderThanMs: config.markersKeptMs });
  const olderThanMs = payWithinMs + config.orphansAfterMs;
  const holds = await stock.listHeld(activityId, { olderThanMs, limit: holdsPerRunMax });
  if (holds.length === 0) return 0;
  const { fenced, present } = await orders.fenceOrphans(holds.map((hold) => ({ ...hold, activityId })));
  const sold = idsWith(present, (status) => status === 'PAID');
  const ended = idsWith(present, (status) => status !== 'PAID' && status !== 'PENDING');
  if (sold.length > 0) await stock.confirm(activityId, sold);
  if (fenced.length + ended.length > 0) await stock.release(activityId, [...fenced, ...ended]);
  if (fenced.length > 0) {
    orphansReleased.inc(fenced.length);
    log.warn({ activityId, holds: fenced.length }, 'released holds whose order was never written');
  }
  if (ended.length + sold.length > 0) {
    log.warn(
      { activityId, ended: ended.length, sold: sold.length },
      'settled holds that Redis had lost track of',
    );
  }
  return fenced.length + ended.length;
}

function idsWith(present: FenceResult['present'], matches: (status: OrderStatus) => boolean): string[] {
  return present.filter(({ status }) => matches(status)).map(({ orderId }) => orderId);
}

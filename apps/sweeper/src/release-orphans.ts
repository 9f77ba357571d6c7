import type { OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import type { Stock } from '@lapse/stock';
import { listAllActivities } from './list-all-activities.ts';
import { orphansReleased } from './metrics.ts';

export interface ReleaseOrphansParts {
  readonly orders: Pick<OrderRepository, 'fenceOrphans' | 'listActivities'>;
  readonly stock: Pick<Stock, 'listHeld' | 'pruneReleased' | 'release'>;
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
 * Also forgets the markers of orders released long ago, which would fill Redis in time.
 * @returns how many holds were released.
 */
export function releaseOrphans({ orders, stock, config, log }: ReleaseOrphansParts) {
  return async (signal: AbortSignal): Promise<number> => {
    let released = 0;
    for await (const page of listAllActivities(orders, signal)) {
      for (const { id: activityId, payWithinMs } of page) {
        if (signal.aborted) return released;
        await stock.pruneReleased(activityId, { olderThanMs: config.markersKeptMs });
        const olderThanMs = payWithinMs + config.orphansAfterMs;
        const holds = await stock.listHeld(activityId, { olderThanMs, limit: holdsPerRunMax });
        if (holds.length === 0) continue;
        const { fenced } = await orders.fenceOrphans(holds.map((hold) => ({ ...hold, activityId })));
        if (fenced.length === 0) continue;
        await stock.release(activityId, fenced);
        released += fenced.length;
        orphansReleased.inc(fenced.length);
        log.warn({ activityId, holds: fenced.length }, 'released holds whose order was never written');
      }
    }
    return released;
  };
}

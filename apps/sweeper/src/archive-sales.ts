import type { OrderRepository } from '@lapse/order-repository';
import type { Logger, SweeperConfig } from '@lapse/runtime';
import type { Stock } from '@lapse/stock';
import { activitiesArchived, ordersArchived } from './metrics.ts';

export interface ArchiveSalesParts {
  readonly orders: Pick<
    OrderRepository,
    'archiveActivities' | 'archiveSoldOrders' | 'noteStockForgotten' | 'readArchivedWork'
  >;
  readonly stock: Pick<Stock, 'forget'>;
  readonly config: Pick<SweeperConfig, 'retainSalesMs'>;
  readonly log: Logger;
}

/** Activities of one look; each that is archived is a transaction. */
const activitiesPerPageMax = 100;
/** Looks of one run: 1,000 activities. */
const pagesMax = 10;
/** Orders of one transaction: it holds their locks for some 50 ms. */
const ordersPerBatchMax = 200;
/** Batches of one run: 40,000 orders. */
const batchesMax = 200;

/**
 * Take whole sales away that the policy no longer keeps, in three steps: MySQL archives the activity, so that nothing is
 * sold in it any more; Redis forgets it; its paid orders go to the archive. Each step is found by what the one before
 * has committed: so a run that dies between two, or finds Redis away, is gone on with by the next, in this process or
 * another, and what was done is not done again. Without a policy nothing is begun; what was begun is brought to its end.
 * An activity that fails does not stop the others; the first error is thrown at the end.
 * @returns how many activities and paid orders were archived.
 */
export function archiveSales(parts: ArchiveSalesParts) {
  /** Where the last run has come: among the activities that are over, some of which stay for long, */
  let overAfterId = 0;
  /** and among those that have paid orders left, some of which stay as well. */
  let soldAfterId = 0;
  return async (signal: AbortSignal): Promise<{ activities: number; orders: number }> => {
    const { retainSalesMs } = parts.config;
    let activities = 0;
    if (retainSalesMs !== null) {
      const walk = { olderThanMs: retainSalesMs, afterId: overAfterId, signal };
      ({ activities, afterId: overAfterId } = await archiveActivities(parts, walk));
    }
    const failures: unknown[] = [];
    await forgetStocks(parts, signal, failures);
    let orders = 0;
    if (retainSalesMs !== null) {
      const walk = { olderThanMs: retainSalesMs, afterId: soldAfterId, signal };
      ({ orders, afterId: soldAfterId } = await archiveOrders(parts, walk, failures));
    }
    if (activities + orders > 0)
      parts.log.info({ activities, orders }, 'sales that are long over were archived');
    if (failures.length > 0) {
      throw new Error('at least one activity could not be archived whole', { cause: failures[0] });
    }
    return { activities, orders };
  };
}

interface Walk {
  readonly olderThanMs: number;
  readonly afterId: number;
  readonly signal: AbortSignal;
}

/** @returns also where to go on in the next run; 0: from the first on. */
async function archiveActivities(
  { orders }: ArchiveSalesParts,
  { olderThanMs, afterId, signal }: Walk,
): Promise<{ activities: number; afterId: number }> {
  let activities = 0;
  let from: number | null = afterId;
  for (let page = 0; page < pagesMax && from !== null && !signal.aborted; page += 1) {
    const done = await orders.archiveActivities({ olderThanMs, limit: activitiesPerPageMax, afterId: from });
    activities += done.archived.length;
    activitiesArchived.inc(done.archived.length);
    from = done.next;
  }
  return { activities, afterId: from ?? 0 };
}

/** Redis first, then the note: what dies between the two forgets it once more. */
async function forgetStocks(
  { orders, stock }: ArchiveSalesParts,
  signal: AbortSignal,
  failures: unknown[],
): Promise<void> {
  const { inRedis } = await orders.readArchivedWork({ afterId: 0, limit: activitiesPerPageMax * pagesMax });
  for (const id of inRedis) {
    if (signal.aborted) return;
    try {
      await stock.forget(id);
      await orders.noteStockForgotten(id);
    } catch (error) {
      failures.push(error);
    }
  }
}

/** @returns also the activity to go on behind in the next run; 0 when there were no more. */
async function archiveOrders(
  { orders }: ArchiveSalesParts,
  { olderThanMs, afterId, signal }: Walk,
  failures: unknown[],
): Promise<{ orders: number; afterId: number }> {
  let total = 0;
  let batches = 0;
  let lastId = afterId;
  for (;;) {
    const { withOrders } = await orders.readArchivedWork({ afterId: lastId, limit: activitiesPerPageMax });
    for (const activityId of withOrders) {
      let afterUserId: string | null = null;
      do {
        if (signal.aborted || batches === batchesMax) return { orders: total, afterId: lastId };
        batches += 1;
        try {
          const wanted = { activityId, olderThanMs, limit: ordersPerBatchMax, afterUserId };
          const done = await orders.archiveSoldOrders(wanted);
          total += done.archived;
          ordersArchived.inc(done.archived);
          afterUserId = done.next;
        } catch (error) {
          failures.push(error);
          afterUserId = null;
        }
      } while (afterUserId !== null);
      lastId = activityId;
    }
    if (withOrders.length < activitiesPerPageMax) return { orders: total, afterId: 0 };
  }
}

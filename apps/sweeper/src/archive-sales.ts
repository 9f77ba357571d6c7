import type { OrderRepository } from '@lapse/order-repository';
import type { Logger, SweeperConfig } from '@lapse/runtime';
import type { Stock } from '@lapse/stock';
import { heldUp } from './archive-finished.ts';
import { activitiesArchived, ordersArchived, ordersLeft } from './metrics.ts';

export interface ArchiveSalesParts {
  readonly orders: Pick<
    OrderRepository,
    | 'archiveActivities'
    | 'archiveSoldOrders'
    | 'noteStockForgotten'
    | 'readArchivedSales'
    | 'readArchivedStocks'
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
  const sold: SoldWalk = { afterId: 0, within: null, left: 0 };
  return async (signal: AbortSignal): Promise<{ activities: number; orders: number }> => {
    const { retainSalesMs } = parts.config;
    const failures: unknown[] = [];
    let activities = 0;
    if (retainSalesMs !== null) {
      const walk = { olderThanMs: retainSalesMs, afterId: overAfterId, signal, failures };
      ({ activities, afterId: overAfterId } = await archiveActivities(parts, walk));
    }
    await forgetStocks(parts, signal, failures);
    const run: SoldRun = { walk: sold, signal, failures, orders: 0, batches: 0 };
    if (retainSalesMs !== null) await archiveOrders(parts, retainSalesMs, run);
    const { orders } = run;
    if (activities + orders > 0)
      parts.log.info({ activities, orders }, 'sales that are long over were archived');
    if (failures.length > 0) {
      throw new Error('at least one activity could not be archived whole', { cause: failures[0] });
    }
    return { activities, orders };
  };
}

/** How far a walk over archived activities has come, and over the buyers of the one it is in. */
interface SoldWalk {
  afterId: number;
  within: { readonly activityId: number; readonly afterUserId: string | null } | null;
  /** Orders met and left since the walk began. */
  left: number;
}

interface SoldRun {
  readonly walk: SoldWalk;
  readonly signal: AbortSignal;
  readonly failures: unknown[];
  orders: number;
  batches: number;
}

interface Walk {
  readonly olderThanMs: number;
  readonly afterId: number;
  readonly signal: AbortSignal;
  readonly failures: unknown[];
}

/** @returns also where to go on in the next run; 0: from the first on. */
async function archiveActivities(
  { orders }: ArchiveSalesParts,
  { olderThanMs, afterId, signal, failures }: Walk,
): Promise<{ activities: number; afterId: number }> {
  let activities = 0;
  let from: number | null = afterId;
  for (let page = 0; page < pagesMax && from !== null && !signal.aborted; page += 1) {
    const done = await orders.archiveActivities({ olderThanMs, limit: activitiesPerPageMax, afterId: from });
    activities += done.archived.length;
    activitiesArchived.inc(done.archived.length);
    for (const { activityId, error } of done.failures) {
      failures.push(new Error(`activity ${activityId} could not be archived`, { cause: error }));
    }
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
  const stocks = await orders.readArchivedStocks({ limit: activitiesPerPageMax * pagesMax });
  for (const archived of stocks) {
    if (signal.aborted) return;
    try {
      await stock.forget(archived.activityId);
      await orders.noteStockForgotten(archived);
    } catch (error) {
      failures.push(error);
    }
  }
}

/** Goes on where the last run has come, and ends with the last activity or at the bound of one run. */
async function archiveOrders(parts: ArchiveSalesParts, olderThanMs: number, run: SoldRun): Promise<void> {
  const { walk } = run;
  for (;;) {
    const isBegun = walk.within !== null;
    const page = walk.within
      ? [walk.within.activityId]
      : await parts.orders.readArchivedSales({ afterId: walk.afterId, limit: activitiesPerPageMax });
    for (const activityId of page) {
      walk.within ??= { activityId, afterUserId: null };
      if (!(await archiveSale(parts, { activityId, olderThanMs }, run))) return;
      walk.within = null;
      walk.afterId = activityId;
    }
    if (!isBegun && page.length < activitiesPerPageMax) break;
  }
  ordersLeft.set({ kind: 'sold' }, walk.left);
  walk.afterId = 0;
  walk.left = 0;
}

/** @returns whether it came to its last buyer, or failed there: then the others have their turn. */
async function archiveSale(
  { orders, log }: ArchiveSalesParts,
  sale: { readonly activityId: number; readonly olderThanMs: number },
  run: SoldRun,
): Promise<boolean> {
  const { walk, signal } = run;
  for (;;) {
    if (signal.aborted || run.batches === batchesMax) return false;
    run.batches += 1;
    try {
      const afterUserId = walk.within?.afterUserId ?? null;
      const done = await orders.archiveSoldOrders({ ...sale, limit: ordersPerBatchMax, afterUserId });
      run.orders += done.archived;
      ordersArchived.inc(done.archived);
      if (done.isHeldUp) {
        log.warn({}, heldUp);
        return false;
      }
      walk.left += done.left;
      if (done.next === null) return true;
      walk.within = { activityId: sale.activityId, afterUserId: done.next };
    } catch (error) {
      run.failures.push(error);
      return true;
    }
  }
}

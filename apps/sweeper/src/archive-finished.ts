import type { ArchiveCursor, EndedStatus, ForgetOptions, OrderRepository } from '@lapse/order-repository';
import type { Logger, SweeperConfig } from '@lapse/runtime';
import { ordersArchived, rowsForgotten } from './metrics.ts';

export interface ArchiveFinishedParts {
  readonly orders: Pick<OrderRepository, 'archiveOrders' | 'forgetFinished'>;
  readonly config: Pick<
    SweeperConfig,
    'retainOrdersMs' | 'retainSalesMs' | 'retainArchiveMs' | 'retainActionsMs'
  >;
  readonly log: Logger;
}

/** Orders of one transaction: it holds their locks for some 50 ms. */
const ordersPerBatchMax = 200;
/** Batches of one run: 40,000 orders, more than end in a minute of 600 a second. */
const batchesMax = 200;
/** Rows of one table deleted by one statement. */
const rowsPerBatchMax = 500;

const statuses: readonly EndedStatus[] = ['TIMEOUT_CLOSED', 'CANCELLED', 'ABORTED'];

/**
 * Take away what the policy no longer keeps: ended orders into the archive, then rows that have done their work, then
 * what the archive has had for long enough. Without a policy nothing is read. A run that is cut short begins anew at
 * the next turn, where what it has done is gone.
 * @returns how many orders were archived.
 */
export function archiveFinished({ orders, config, log }: ArchiveFinishedParts) {
  return async (signal: AbortSignal): Promise<number> => {
    const { retainOrdersMs } = config;
    const total = retainOrdersMs === null ? 0 : await archiveAll(orders, retainOrdersMs, signal);
    if (total > 0) log.info({ orders: total }, 'orders that ended long ago were archived');
    if (Object.values(forgetting(config)).some((ms) => ms !== null))
      await forgetAll({ orders, config, log }, signal);
    return total;
  };
}

async function archiveAll(
  orders: ArchiveFinishedParts['orders'],
  olderThanMs: number,
  signal: AbortSignal,
): Promise<number> {
  let total = 0;
  let batches = 0;
  for (const status of statuses) {
    let after: ArchiveCursor | null = null;
    do {
      if (signal.aborted || batches === batchesMax) return total;
      batches += 1;
      const done = await orders.archiveOrders({ status, olderThanMs, limit: ordersPerBatchMax, after });
      total += done.archived;
      ordersArchived.inc(done.archived);
      after = done.next;
    } while (after !== null);
  }
  return total;
}

async function forgetAll({ orders, config }: ArchiveFinishedParts, signal: AbortSignal): Promise<void> {
  for (let batch = 0; batch < batchesMax && !signal.aborted; batch += 1) {
    const forgotten = await orders.forgetFinished({ ...forgetting(config), limit: rowsPerBatchMax });
    const counts = Object.values(forgotten);
    rowsForgotten.inc(counts.reduce((sum, rows) => sum + rows, 0));
    if (counts.every((rows) => rows < rowsPerBatchMax)) return;
  }
}

/** Where only whole sales are archived, their messages go as well: no row may name an order that the archive has let go. */
function forgetting(config: ArchiveFinishedParts['config']): Omit<ForgetOptions, 'limit'> {
  return {
    olderThanMs: config.retainOrdersMs ?? config.retainSalesMs,
    archiveOlderThanMs: config.retainArchiveMs,
    actionsOlderThanMs: config.retainActionsMs,
  };
}

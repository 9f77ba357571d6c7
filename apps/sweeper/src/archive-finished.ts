import type {
  ArchiveCursor,
  EndedStatus,
  ForgetOptions,
  OrderRepository,
  PaymentCursor,
} from '@lapse/order-repository';
import type { Logger, SweeperConfig } from '@lapse/runtime';
import { ordersArchived, ordersLeft, rowsForgotten } from './metrics.ts';

export interface ArchiveFinishedParts {
  readonly orders: Pick<OrderRepository, 'archiveOrders' | 'forgetFinished' | 'forgetPayments'>;
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
/** Said once a run. */
export const heldUp =
  'more old effects are undone than are looked through: no order is archived until they are seen to. `lapse effects list` ' +
  'shows those that were given up; the others wait for Redis, or for an expander that runs';
/** Pages of payments of one run: 10,000 rows, of which most are of orders that stay. */
const paymentPagesMax = 20;

const statuses: readonly [EndedStatus, ...EndedStatus[]] = ['TIMEOUT_CLOSED', 'CANCELLED', 'ABORTED'];

/** Where the last run has come: what must stay, however much it is, keeps no run from what comes after it. */
interface Walks {
  status: EndedStatus;
  after: ArchiveCursor | null;
  /** Met and left since the walk began. */
  left: number;
  payment: PaymentCursor | null;
}

/**
 * Take away what the policy no longer keeps: ended orders into the archive, then rows that have done their work and what
 * the archive has had for long enough, then payments of nobody. Without a policy nothing is read. A run that is cut short
 * is gone on with by the next. One of the three that fails does not stop the others; the first error is thrown at the end.
 * @returns how many orders were archived.
 */
export function archiveFinished({ orders, config, log }: ArchiveFinishedParts) {
  const walks: Walks = { status: statuses[0], after: null, left: 0, payment: null };
  return async (signal: AbortSignal): Promise<number> => {
    const run: Run = { orders, config, log, walks, signal, archived: 0 };
    const failures: unknown[] = [];
    for (const step of [archiveUnsold, forgetFinished, forgetPayments]) {
      await step(run).catch((error: unknown) => failures.push(error));
    }
    if (run.archived > 0) log.info({ orders: run.archived }, 'orders that ended long ago were archived');
    if (failures.length > 0) throw new Error('retention failed in part', { cause: failures[0] });
    return run.archived;
  };
}

interface Run extends ArchiveFinishedParts {
  readonly walks: Walks;
  readonly signal: AbortSignal;
  archived: number;
}

async function archiveUnsold(run: Run): Promise<void> {
  const { orders, walks, signal, log } = run;
  const olderThanMs = run.config.retainOrdersMs;
  if (olderThanMs === null) return;
  for (let batch = 0; batch < batchesMax && !signal.aborted; batch += 1) {
    const { status, after } = walks;
    const done = await orders.archiveOrders({ status, olderThanMs, limit: ordersPerBatchMax, after });
    run.archived += done.archived;
    ordersArchived.inc(done.archived);
    if (done.isHeldUp) {
      log.warn({}, heldUp);
      return;
    }
    walks.left += done.left;
    walks.after = done.next;
    if (done.next !== null) continue;
    const nextStatus = statuses[statuses.indexOf(status) + 1];
    walks.status = nextStatus ?? statuses[0];
    if (nextStatus !== undefined) continue;
    ordersLeft.set({ kind: 'unsold' }, walks.left);
    walks.left = 0;
    return;
  }
}

async function forgetFinished({ orders, config, signal }: Run): Promise<void> {
  const policies = forgetting(config);
  if (Object.values(policies).every((ms) => ms === null)) return;
  for (let batch = 0; batch < batchesMax && !signal.aborted; batch += 1) {
    const forgotten = await orders.forgetFinished({ ...policies, limit: rowsPerBatchMax });
    const counts = Object.values(forgotten);
    rowsForgotten.inc(counts.reduce((sum, rows) => sum + rows, 0));
    if (counts.every((rows) => rows < rowsPerBatchMax)) return;
  }
}

/** Those that never had an order go once an order as old would have gone from the archive, too. */
async function forgetPayments({ orders, config, walks, signal }: Run): Promise<void> {
  const { olderThanMs, archiveOlderThanMs } = forgetting(config);
  if (olderThanMs === null || archiveOlderThanMs === null) return;
  for (let page = 0; page < paymentPagesMax && !signal.aborted; page += 1) {
    const done = await orders.forgetPayments({
      olderThanMs: olderThanMs + archiveOlderThanMs,
      limit: rowsPerBatchMax,
      after: walks.payment,
    });
    rowsForgotten.inc(done.payments);
    walks.payment = done.next;
    if (done.next === null) return;
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

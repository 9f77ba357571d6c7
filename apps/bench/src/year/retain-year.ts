import type { ArchiveCursor, OrderRepository } from '@lapse/order-repository';
import type { Pool } from 'mysql2/promise';

const dayMs = 86_400_000;
/** As the sweeper takes them. */
const ordersPerBatchMax = 200;
const rowsPerBatchMax = 500;
const activitiesPerPage = 100;

/** Bring the tables to what they are where retention has run all year, by the operations that the sweeper calls. */
export async function retainYear(repository: OrderRepository, days: number): Promise<{ orders: number }> {
  const olderThanMs = days * dayMs;
  const unsold = await archiveUnsold(repository, olderThanMs);
  for (let afterId: number | null = 0; afterId !== null; ) {
    const page = { olderThanMs, limit: activitiesPerPage, afterId };
    const { next, failures } = await repository.archiveActivities(page);
    if (failures[0]) throw failures[0].error;
    afterId = next;
  }
  const sold = await archiveSold(repository, olderThanMs);
  await forgetRows(repository, olderThanMs);
  return { orders: unsold + sold };
}

async function archiveUnsold(repository: OrderRepository, olderThanMs: number): Promise<number> {
  let orders = 0;
  for (const status of ['TIMEOUT_CLOSED', 'CANCELLED', 'ABORTED'] as const) {
    let after: ArchiveCursor | null = null;
    do {
      const wanted = { status, olderThanMs, limit: ordersPerBatchMax, after };
      const done = await repository.archiveOrders(wanted);
      orders += done.archived;
      after = done.next;
    } while (after !== null);
  }
  return orders;
}

async function archiveSold(repository: OrderRepository, olderThanMs: number): Promise<number> {
  let orders = 0;
  let afterId = 0;
  for (;;) {
    const withOrders = await repository.readArchivedSales({ afterId, limit: activitiesPerPage });
    for (const activityId of withOrders) {
      let afterUserId: string | null = null;
      do {
        const wanted = { activityId, olderThanMs, limit: ordersPerBatchMax, afterUserId };
        const done = await repository.archiveSoldOrders(wanted);
        orders += done.archived;
        afterUserId = done.next;
      } while (afterUserId !== null);
      afterId = activityId;
    }
    if (withOrders.length < activitiesPerPage) return orders;
  }
}

async function forgetRows(repository: OrderRepository, olderThanMs: number): Promise<void> {
  const wanted = { olderThanMs, archiveOlderThanMs: null, actionsOlderThanMs: null, limit: rowsPerBatchMax };
  while ((await repository.forgetFinished(wanted)).messages > 0);
}

/** Let go of what has been in the archive for so long, had it gone there as soon as it was old enough. */
export async function forgetArchive(
  { repository, mysql }: { readonly repository: OrderRepository; readonly mysql: Pool },
  { keptDays, archiveDays }: { readonly keptDays: number; readonly archiveDays: number },
): Promise<void> {
  await mysql.query('UPDATE order_archive SET archived_at = finished_at + INTERVAL ? DAY', [keptDays]);
  const archiveOlderThanMs = archiveDays * dayMs;
  const wanted = { olderThanMs: null, archiveOlderThanMs, actionsOlderThanMs: null, limit: rowsPerBatchMax };
  while ((await repository.forgetFinished(wanted)).archived > 0);
}

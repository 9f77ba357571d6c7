import { openDatabase } from './database.ts';
import { openDatabaseClock } from './database-clock.ts';
import { listLiveActivities } from './list-activities.ts';
import { listFindings } from './list-findings.ts';
import { listBuyerOrders, listSummaries } from './list-summaries.ts';
import { listWaiting } from './list-waiting.ts';
import { listWorkers } from './list-workers.ts';
import { toStoreError } from './mysql-fault.ts';
import type { RepositoryConfig, RepositoryLog } from './order-repository.ts';
import type { OrderViews } from './order-views.ts';
import { readActivityCounts } from './read-activity-counts.ts';
import { countByStatus, readLateness } from './read-closings.ts';
import { countDueMinutes, readDueDeadlines } from './read-due-deadlines.ts';
import { readPaymentBacklog } from './read-payment-backlog.ts';
import { readWorkToDo } from './read-work-to-do.ts';
import { withRetriedSession } from './transaction.ts';
import { watchOrders } from './watch-orders.ts';

/**
 * Open the pool, READ ONLY, and read the database clock once, so a wrong address fails here.
 * @throws StoreUnavailableError when MySQL does not answer.
 */
export async function openOrderViews(
  config: Omit<RepositoryConfig, 'shopEvents'>,
  log: RepositoryLog,
): Promise<OrderViews> {
  const database = openDatabase({ ...config, readOnly: true }, log);
  const clock = await openDatabaseClock(database).catch(async (error: unknown) => {
    await database.close();
    throw toStoreError(error);
  });
  return {
    close: async () => {
      await clock.close();
      await database.close();
    },
    ping: async () => {
      await withRetriedSession(database, (session) => session.rows('SELECT 1'));
    },
    now: () => clock.now(),
    listLiveActivities: (limit) => listLiveActivities(database, limit),
    readActivityCounts: (activityId) => readActivityCounts(database, activityId),
    watchOrders: (ids) => watchOrders(database, ids),
    listBuyerOrders: (userId, limit) => listBuyerOrders(database, userId, limit),
    listSummaries: (filter, limit) => listSummaries(database, filter, limit),
    readDueDeadlines: (limit) => readDueDeadlines(database, limit),
    countDueMinutes: (minutes) => countDueMinutes(database, minutes),
    countByStatus: (options) => countByStatus(database, options),
    readLateness: (options) => readLateness(database, options),
    readWorkToDo: () => readWorkToDo(database),
    listWaiting: (kind, limit) => listWaiting(database, kind, limit),
    listWorkers: () => listWorkers(database),
    readPaymentBacklog: () => readPaymentBacklog(database),
    listFindings: (page) => listFindings(database, page),
  };
}

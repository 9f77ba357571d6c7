import { archiveActivities } from './archive-activities.ts';
import { archiveOrders } from './archive-orders.ts';
import { archiveSoldOrders } from './archive-sold-orders.ts';
import { markFindingsHealed, recordFindings } from './audit-findings.ts';
import { createBusyActivities } from './busy-activities.ts';
import { cancelByOperator } from './cancel-by-operator.ts';
import { cancelOrder } from './cancel-order.ts';
import { changeCapacity } from './change-capacity.ts';
import { claimDueAttempts } from './claim-due-attempts.ts';
import { claimNotifications } from './claim-notifications.ts';
import { claimOutbox } from './claim-outbox.ts';
import { claimRefunds } from './claim-refunds.ts';
import { claimShopEvents } from './claim-shop-events.ts';
import { claimWaitingPayments } from './claim-waiting-payments.ts';
import { closeByOperator } from './close-by-operator.ts';
import { closeExpired } from './close-expired.ts';
import { closeOverdue } from './close-overdue.ts';
import { createActivity, openActivity } from './create-activity.ts';
import { createOrders } from './create-orders.ts';
import { type Database, openDatabase } from './database.ts';
import { type DatabaseClock, openDatabaseClock } from './database-clock.ts';
import { describeServer } from './describe-server.ts';
import { dismissPayments } from './dismiss-payments.ts';
import { dropParked } from './drop-parked.ts';
import { endAttempt } from './end-attempt.ts';
import { expandClosedNotices } from './expand-closed-notices.ts';
import { expandShopEvents } from './expand-shop-events.ts';
import { expireKeys } from './expire-keys.ts';
import { extendOrder } from './extend-order.ts';
import { fenceOrphans } from './fence-orphans.ts';
import { findActiveOrder } from './find-active-order.ts';
import { findOrders } from './find-orders.ts';
import { findOrdersByKey } from './find-orders-by-key.ts';
import { finishNotifications } from './finish-notifications.ts';
import { failRefund, finishRefund } from './finish-refund.ts';
import { finishShopEvents } from './finish-shop-events.ts';
import { forgetFinished } from './forget-finished.ts';
import { forgetPayments } from './forget-payments.ts';
import { giveUpWaitingPayments } from './give-up-waiting-payments.ts';
import { limitRowWaits, type RowWaits } from './limit-row-waits.ts';
import { listActivities } from './list-activities.ts';
import { listFindings } from './list-findings.ts';
import { listParked } from './list-parked.ts';
import { listPendingEffects } from './list-pending-effects.ts';
import { listRefunds } from './list-refunds.ts';
import { listWorkers } from './list-workers.ts';
import { markAttemptOpen } from './mark-attempt-open.ts';
import { markEffectsApplied } from './mark-effects-applied.ts';
import { markOutboxFailed } from './mark-outbox-failed.ts';
import { markOutboxSent } from './mark-outbox-sent.ts';
import { markRefundPaid } from './mark-refund-paid.ts';
import { measureRepository } from './measure-repository.ts';
import { toStoreError } from './mysql-fault.ts';
import { noteAction } from './note-action.ts';
import { noteFirstLoad } from './note-first-load.ts';
import { noteStockForgotten } from './note-stock-forgotten.ts';
import { openAttempt } from './open-attempt.ts';
import type { OrderRepository, RepositoryConfig, RepositoryLog } from './order-repository.ts';
import { parkMessage } from './park-message.ts';
import { readActiveOrders } from './read-active-orders.ts';
import { readActivity } from './read-activity.ts';
import { readActivityCounts } from './read-activity-counts.ts';
import { readArchivedSales } from './read-archived-sales.ts';
import { readArchivedStocks } from './read-archived-stocks.ts';
import { readOldestOverdue } from './read-oldest-overdue.ts';
import { readOrder } from './read-order.ts';
import { countOrders, readOverview } from './read-overview.ts';
import { readPaymentBacklog } from './read-payment-backlog.ts';
import { readPendingChanges } from './read-pending-changes.ts';
import { readStatuses } from './read-statuses.ts';
import { readTimeline } from './read-timeline.ts';
import { rearm } from './rearm.ts';
import { rebuildSnapshot } from './rebuild-snapshot.ts';
import { recordPayment } from './record-payment.ts';
import { recordRefundFailure } from './record-refund-failure.ts';
import { listLeftEffects, redriveEffects } from './redrive-effects.ts';
import { redriveParked } from './redrive-parked.ts';
import { refundPayments } from './refund-payments.ts';
import { remindPending } from './remind-pending.ts';
import { forgetDeadWorkers, reportWorker } from './report-worker.ts';
import { listUndelivered, resendUndelivered } from './resend-undelivered.ts';
import { retryAttempt } from './retry-attempt.ts';
import { setActivityPaused } from './set-activity-paused.ts';
import { setWorkerWanted } from './set-worker-wanted.ts';
import { sweepReminders } from './sweep-reminders.ts';
import { withRetriedSession } from './transaction.ts';

/**
 * Open the pool and read the database clock once, so a wrong address fails here. Does not migrate.
 * @throws StoreUnavailableError when MySQL does not answer.
 */
export async function openOrderRepository(
  config: RepositoryConfig,
  log: RepositoryLog,
): Promise<OrderRepository> {
  const database = openDatabase(config, log);
  try {
    const waits = limitRowWaits(Math.max(1, Math.floor(config.poolMax / 2)));
    return measureRepository(bind(database, await openDatabaseClock(database), waits, log));
  } catch (error) {
    await database.close();
    throw toStoreError(error);
  }
}

function bind(
  database: Database,
  clock: DatabaseClock,
  waits: RowWaits,
  log: RepositoryLog,
): OrderRepository {
  const busy = createBusyActivities();
  return {
    close: async () => {
      await clock.close();
      await database.close();
    },
    ping: async () => {
      await withRetriedSession(database, (session) => session.rows('SELECT 1'));
    },
    now: () => clock.now(),
    describeServer: () => describeServer(database),
    createActivity: (body) => createActivity(database, body),
    openActivity: (body, request, answer) => openActivity(database, body, request, answer),
    changeCapacity: (activityId, capacity, request, answer) =>
      changeCapacity(database, activityId, capacity, request, answer),
    setActivityPaused: (id, paused, options, answer) =>
      setActivityPaused(database, id, paused, options, answer),
    readActivity: (id) => readActivity(database, id),
    listActivities: (page) => listActivities(database, page),
    createOrders: (orders) => createOrders(database, busy, orders),
    readOrder: (id) => readOrder(database, id),
    findActiveOrder: (activityId, userId) => findActiveOrder(database, activityId, userId),
    findOrdersByKey: (keys) => findOrdersByKey(database, keys),
    findOrders: (search) => findOrders(database, search),
    readTimeline: (id) => readTimeline(database, id),
    cancelOrder: (id, userId) => waits.run(() => cancelOrder(database, id, userId)),
    cancelByOperator: (id, request, answer) => cancelByOperator(database, id, request, answer),
    closeByOperator: (id, request, answer) => closeByOperator(database, id, request, answer),
    extendOrder: (id, extension, request, answer) => extendOrder(database, id, extension, request, answer),
    expireKeys: (options) => expireKeys(database, log, options),
    archiveOrders: (options) => archiveOrders(database, log, options),
    archiveActivities: (options) => archiveActivities(database, options),
    noteStockForgotten: (stock) => noteStockForgotten(database, stock),
    readArchivedStocks: (page) => readArchivedStocks(database, page),
    readArchivedSales: (page) => readArchivedSales(database, page),
    archiveSoldOrders: (options) => archiveSoldOrders(database, log, options),
    forgetFinished: (options) => forgetFinished(database, options),
    forgetPayments: (options) => forgetPayments(database, options),
    recordPayment: (event) => waits.run(() => recordPayment(database, log, busy, event)),
    claimWaitingPayments: (options) => claimWaitingPayments(database, options),
    giveUpWaitingPayments: (options) => giveUpWaitingPayments(database, options),
    openAttempt: (wanted) => waits.run(() => openAttempt(database, wanted)),
    markAttemptOpen: (id, answer) => markAttemptOpen(database, id, answer),
    claimDueAttempts: (options) => claimDueAttempts(database, options),
    retryAttempt: (id, retry) => retryAttempt(database, id, retry),
    endAttempt: (id, state, error) => endAttempt(database, id, state, error),
    claimRefunds: (options) => claimRefunds(database, options),
    finishRefund: (id, answer) => finishRefund(database, id, answer),
    failRefund: (claimed, retry) => failRefund(database, claimed, retry),
    recordRefundFailure: (failure) => recordRefundFailure(database, failure),
    listRefunds: (filter) => listRefunds(database, filter),
    markRefundPaid: (refund, request, answer) => markRefundPaid(database, refund, request, answer),
    refundPayments: (ids, options, answer) => refundPayments(database, { ids, options, answer }),
    dismissPayments: (ids, options, answer) => dismissPayments(database, { ids, options, answer }),
    readOverview: () => readOverview(database),
    readOldestOverdue: () => readOldestOverdue(database),
    countOrders: () => countOrders(database),
    readPaymentBacklog: () => readPaymentBacklog(database),
    closeExpired: (ids, options) => closeExpired(database, log, busy, ids, options),
    closeOverdue: (options) => closeOverdue(database, log, busy, options),
    remindPending: (ids) => remindPending(database, log, ids),
    sweepReminders: (options) => sweepReminders(database, log, options),
    rearm: (phase, ids) => rearm(database, phase, ids),
    readStatuses: (ids) => readStatuses(database, ids),
    fenceOrphans: (holds) => fenceOrphans(database, holds),
    listPendingEffects: (options) => listPendingEffects(database, log, options),
    markEffectsApplied: (ids) => markEffectsApplied(database, ids),
    expandClosedNotices: (limit) => expandClosedNotices(database, log, limit),
    expandShopEvents: (limit) => expandShopEvents(database, log, limit),
    claimOutbox: (options) => claimOutbox(database, options),
    markOutboxSent: (rows) => markOutboxSent(database, rows),
    markOutboxFailed: (ids, error) => markOutboxFailed(database, ids, error),
    claimNotifications: (options) => claimNotifications(database, options),
    parkMessage: (message) => parkMessage(database, 'message', message),
    parkDeadLetter: (message) => parkMessage(database, 'dead_letter', message),
    listFindings: (page) => listFindings(database, page),
    listParked: (filter, page) => listParked(database, filter, page),
    redriveParked: (ids, options, answer) => redriveParked(database, { ids, options, answer }),
    dropParked: (ids, options, answer) => dropParked(database, { ids, options, answer }),
    finishNotifications: (finished) => finishNotifications(database, finished),
    claimShopEvents: (options) => claimShopEvents(database, options),
    listUndelivered: (kind, page) => listUndelivered(database, kind, page),
    resendUndelivered: (kind, ids, options, answer) =>
      resendUndelivered(database, kind, { ids, options, answer }),
    listLeftEffects: (page) => listLeftEffects(database, page),
    redriveEffects: (ids, options, answer) => redriveEffects(database, { ids, options, answer }),
    finishShopEvents: (finished) => finishShopEvents(database, finished),
    readActivityCounts: (activityId) => readActivityCounts(database, activityId),
    readActiveOrders: (activityId, page) => readActiveOrders(database, activityId, page),
    readPendingChanges: (activityId) => readPendingChanges(database, activityId),
    recordFindings: (findings) => recordFindings(database, findings),
    markFindingsHealed: (ids) => markFindingsHealed(database, ids),
    noteAction: (request, action, answer) => noteAction(database, request, action, answer),
    noteFirstLoad: (activityId, load) => noteFirstLoad(database, activityId, load),
    reportWorker: (report) => reportWorker(database, report),
    forgetDeadWorkers: () => forgetDeadWorkers(database),
    listWorkers: () => listWorkers(database),
    setWorkerWanted: (id, wanted, options, answer) => setWorkerWanted(database, id, wanted, options, answer),
    rebuildSnapshot: (activityId, apply) => rebuildSnapshot(database, activityId, apply),
  };
}

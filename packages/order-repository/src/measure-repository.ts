import { Counter, createCallMeter, measureCalls, traceOrders, type Watchers } from '@lapse/runtime';
import type { OperatorResult } from './operator-result.ts';
import type { OrderRepository } from './order-repository.ts';

/** What an operation is for. A class is a handful of series; the names of all operations would be a thousand. */
const classes = [
  ...(['create', 'close', 'remind', 'pay', 'cancel', 'settle', 'outbox', 'effect', 'deliver'] as const),
  ...(['read', 'audit', 'operate', 'park', 'report'] as const),
];
type Class = (typeof classes)[number];

/** Every operation, so that a new one cannot be forgotten. */
const classOf: Readonly<Record<Exclude<keyof OrderRepository, 'close' | 'now' | 'ping'>, Class>> = {
  createOrders: 'create',
  closeExpired: 'close',
  closeOverdue: 'close',
  remindPending: 'remind',
  sweepReminders: 'remind',
  recordPayment: 'pay',
  openAttempt: 'pay',
  markAttemptOpen: 'pay',
  cancelOrder: 'cancel',
  claimWaitingPayments: 'settle',
  giveUpWaitingPayments: 'settle',
  claimDueAttempts: 'settle',
  retryAttempt: 'settle',
  endAttempt: 'settle',
  claimRefunds: 'settle',
  finishRefund: 'settle',
  failRefund: 'settle',
  recordRefundFailure: 'settle',
  rearm: 'outbox',
  claimOutbox: 'outbox',
  markOutboxSent: 'outbox',
  markOutboxFailed: 'outbox',
  listPendingEffects: 'effect',
  markEffectsApplied: 'effect',
  expandClosedNotices: 'deliver',
  expandShopEvents: 'deliver',
  claimNotifications: 'deliver',
  finishNotifications: 'deliver',
  claimShopEvents: 'deliver',
  finishShopEvents: 'deliver',
  describeServer: 'read',
  readActivity: 'read',
  listActivities: 'read',
  readOrder: 'read',
  findActiveOrder: 'read',
  findOrdersByKey: 'read',
  findOrders: 'read',
  readTimeline: 'read',
  listRefunds: 'read',
  listFindings: 'read',
  listParked: 'read',
  listUndelivered: 'read',
  listLeftEffects: 'read',
  listWorkers: 'read',
  readActivityCounts: 'audit',
  readActiveOrders: 'audit',
  readPendingChanges: 'audit',
  readStatuses: 'audit',
  recordFindings: 'audit',
  markFindingsHealed: 'audit',
  fenceOrphans: 'audit',
  rebuildSnapshot: 'audit',
  noteFirstLoad: 'audit',
  createActivity: 'operate',
  openActivity: 'operate',
  changeCapacity: 'operate',
  setActivityPaused: 'operate',
  cancelByOperator: 'operate',
  closeByOperator: 'operate',
  extendOrder: 'operate',
  markRefundPaid: 'operate',
  refundPayments: 'operate',
  dismissPayments: 'operate',
  resendUndelivered: 'operate',
  redriveEffects: 'operate',
  redriveParked: 'operate',
  dropParked: 'operate',
  noteAction: 'operate',
  setWorkerWanted: 'operate',
  parkMessage: 'park',
  parkDeadLetter: 'park',
  readPaymentBacklog: 'report',
  readOverview: 'report',
  readOldestOverdue: 'report',
  countOrders: 'report',
  reportWorker: 'report',
  forgetDeadWorkers: 'report',
  expireKeys: 'report',
  archiveOrders: 'report',
  archiveActivities: 'report',
  noteStockForgotten: 'report',
  readArchivedStocks: 'report',
  readArchivedSales: 'report',
  archiveSoldOrders: 'report',
  forgetFinished: 'report',
  forgetPayments: 'report',
};

const meter = createCallMeter('mysql', classes);

type Transition = 'created' | 'reminded' | 'paid' | 'closed' | 'cancelled' | 'reacquired';

const transitions = new Counter({
  name: 'lapse_order_transitions_total',
  help: 'Orders that this process brought a step further in MySQL, by the step.',
  labelNames: ['transition'] as const,
});

function count(transition: Transition, orders: number): void {
  if (orders > 0) transitions.inc({ transition }, orders);
}

const isDone = ({ kind }: OperatorResult<unknown, unknown>): boolean => kind === 'done';

type Call = Parameters<NonNullable<Watchers<OrderRepository>['createOrders']>>[0];

/** A step of these orders is committed: it is counted, and stands in the trace of each. */
function step(transition: Transition, call: Call, orderIds: readonly string[]): void {
  count(transition, orderIds.length);
  if (orderIds.length > 0) {
    traceOrders({
      name: `mysql ${transition}`,
      kind: 'client',
      ...call,
      orderIds,
      attributes: { 'db.system.name': 'mysql' },
    });
  }
}

const idsOf = (orders: readonly { readonly orderId: string }[]): string[] =>
  orders.map(({ orderId }) => orderId);

const watchers: Watchers<OrderRepository> = {
  createOrders: (call, { results }, orders) =>
    step(
      'created',
      call,
      orders.filter((_order, at) => results[at]?.kind === 'created').map(({ id }) => id),
    ),
  remindPending: (call, { reminded }) => step('reminded', call, idsOf(reminded)),
  sweepReminders: (_call, { reminded }) => count('reminded', reminded),
  closeExpired: (call, { closed }) => step('closed', call, idsOf(closed)),
  closeOverdue: (call, { closed }) => step('closed', call, idsOf(closed)),
  closeByOperator: (call, result, id) => step('closed', call, isDone(result) ? [id] : []),
  cancelOrder: (call, { kind }, id) => step('cancelled', call, kind === 'cancelled' ? [id] : []),
  cancelByOperator: (call, result, id) => step('cancelled', call, isDone(result) ? [id] : []),
  recordPayment: (call, { outcome }, { orderId }) => {
    if (outcome === 'paid' || outcome === 'reacquired') step(outcome, call, [orderId]);
  },
};

/** The same repository: how long its operations take is in the metrics, and so is each step of an order. */
export function measureRepository(orders: OrderRepository): OrderRepository {
  return measureCalls(orders, meter, classOf, watchers);
}

import { workerKinds } from '@lapse/contracts';
import type { OrderRepository } from '@lapse/order-repository';
import * as metrics from './state-metrics.ts';

export interface ReportStateParts {
  readonly orders: Pick<
    OrderRepository,
    'readOverview' | 'readOldestOverdue' | 'countOrders' | 'listWorkers' | 'now'
  >;
}

/** Time between two counts of all orders, and how many times its own length a count is followed by rest. */
const countEveryMs = 60_000;
const countRestTimes = 50;

/**
 * Say in the metrics what MySQL holds, so that a scrape asks nothing of it. What is unfinished is read by indexes of
 * that alone, at each run. A count of all orders reads an index whole, 0.2 s for a million: it is made once a minute,
 * and never takes more than a fiftieth of one connection's time.
 */
export function reportState({ orders }: ReportStateParts): () => Promise<void> {
  let countAgainAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    showOverview(await orders.readOverview());
    metrics.oldestOverdueSeconds.set((await orders.readOldestOverdue()).oldestMs / 1_000);
    showWorkers(await orders.listWorkers());
    metrics.stateReadAt.set(orders.now() / 1_000);
    const startedAtMs = performance.now();
    if (startedAtMs < countAgainAtMs) return;
    for (const [state, count] of Object.entries(await orders.countOrders())) {
      metrics.ordersByState.set({ state: state.toLowerCase() }, count);
    }
    metrics.ordersCountedAt.set(orders.now() / 1_000);
    const tookMs = performance.now() - startedAtMs;
    countAgainAtMs = startedAtMs + Math.max(countEveryMs, tookMs * countRestTimes);
  };
}

type Overview = Awaited<ReturnType<OrderRepository['readOverview']>>;

function showOverview({
  pending,
  overdue,
  due,
  outbox,
  effects,
  parked,
  notices,
  shopEvents,
}: Overview): void {
  metrics.pendingOrders.set(pending);
  metrics.ordersOverdue.set(overdue);
  for (const { withinMs, orders } of due) {
    metrics.ordersDue.set({ within: String(withinMs / 1_000) }, orders);
  }
  metrics.outboxRows.set(outbox.rows);
  metrics.outboxOldestSeconds.set(outbox.oldestMs / 1_000);
  for (const [kind, { rows, oldestMs }] of Object.entries(effects.byKind)) {
    metrics.effectRows.set({ kind }, rows);
    metrics.effectOldestSeconds.set({ kind }, oldestMs / 1_000);
  }
  metrics.parked.set({ kind: 'order' }, parked.orders);
  metrics.parked.set({ kind: 'message' }, parked.messages);
  metrics.parked.set({ kind: 'dead_letter' }, parked.deadLetters);
  metrics.noticesFailing.set(notices.failing);
  metrics.undelivered.set({ kind: 'notification' }, notices.givenUp);
  metrics.undelivered.set({ kind: 'shop_event' }, shopEvents.givenUp);
  metrics.shopEventsWaiting.set(shopEvents.waiting);
}

function showWorkers(workers: Awaited<ReturnType<OrderRepository['listWorkers']>>): void {
  for (const kind of workerKinds) {
    const alive = workers.filter((worker) => worker.kind === kind && worker.alive);
    metrics.workersAlive.set({ kind }, alive.length);
    metrics.workersPaused.set({ kind }, alive.filter(({ wanted }) => wanted === 'PAUSE').length);
  }
}

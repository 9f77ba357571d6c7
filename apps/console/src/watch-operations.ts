import type { Activity, OrderViews } from '@lapse/order-repository';
import { type Logger, type Repeat, repeat } from '@lapse/runtime';
import { isStockUnavailable, type Stock } from '@lapse/stock';
import type { FanOut } from './fan-out.ts';
import { countedMs, toOrderCounts } from './keep-history.ts';
import type { ActivityState, Lateness, OperationsState, Places } from './live-states.ts';

/** Activities counted in both stores: the newest of those that are live. */
const activitiesMax = 20;
const dueMinutes = 20;
/** Orders whose lateness is shown: those that were due within this time. */
export const latenessSinceMs = 300_000;
const latenessOrdersMax = 5_000;
const findingsMax = 10;
const workersMax = 50;
/** To count reads every active order. After a look nothing is read for this many times as long as it took. */
const restTimes = 4;

export const operationsTopic = 'operations';

export interface WatchOperationsOptions {
  readonly views: OrderViews;
  readonly stock: Pick<Stock, 'readCounts'>;
  readonly fanOut: FanOut;
  readonly everyMs: number;
  readonly log: Logger;
}

/** One look at everything for all operators who watch, and none while nobody does. */
export function watchOperations({ views, stock, fanOut, everyMs, log }: WatchOperationsOptions): Repeat {
  let restUntil = 0;
  /** What differed at the last look, by activity. */
  let before = new Map<number, string>();
  return repeat({
    name: 'watch operations',
    everyMs,
    log,
    task: async () => {
      const startedAt = performance.now();
      if (!fanOut.topics().includes(operationsTopic) || startedAt < restUntil) return;
      const now = new Map<number, string>();
      const activities: ActivityState[] = [];
      for (const activity of await views.listLiveActivities(activitiesMax)) {
        const counted = await countActivity(views, stock, activity);
        now.set(activity.id, counted.difference);
        const drift = counted.difference !== '' && before.get(activity.id) === counted.difference;
        activities.push({ ...counted.state, drift });
      }
      before = now;
      fanOut.publish(operationsTopic, { activities, ...(await readRest(views)) } satisfies OperationsState);
      restUntil = performance.now() + (performance.now() - startedAt) * restTimes;
    },
  });
}

/** `difference`: empty where both stores agree, or where Redis moved while it was counted. */
async function countActivity(
  views: OrderViews,
  stock: Pick<Stock, 'readCounts'>,
  { id, name, capacity, available, salePausedAt }: Activity,
): Promise<{ state: Omit<ActivityState, 'drift'>; difference: string }> {
  const counts = await views.readActivityCounts(id);
  const inRedis = await stock.readCounts(id).catch((error: unknown) => {
    // Away, or unreadable: shown as not there, and the auditor says more.
    if (isStockUnavailable(error) || error instanceof TypeError) return null;
    throw error;
  });
  const mysql: Places = {
    free: counts?.available ?? available,
    held: counts?.pending.units ?? 0,
    sold: counts?.paid.units ?? 0,
  };
  const redis = inRedis && { free: inRedis.stock, held: inRedis.held, sold: inRedis.sold };
  const differs =
    redis !== null && inRedis?.steady === true && JSON.stringify(redis) !== JSON.stringify(mysql);
  return {
    state: { id, name, capacity, mysql, redis, paused: salePausedAt !== null },
    difference: differs
      ? `${redis.free - mysql.free}:${redis.held - mysql.held}:${redis.sold - mysql.sold}`
      : '',
  };
}

async function readRest(views: OrderViews): Promise<Omit<OperationsState, 'activities'>> {
  const due = Array.from({ length: dueMinutes }, () => 0);
  for (const { minute, orders } of await views.countDueMinutes(dueMinutes)) due[minute] = orders;
  const { outbox, effects, parked, notices } = await views.readWorkToDo();
  const backlog = await views.readPaymentBacklog();
  const workers = await views.listWorkers();
  const findings = await views.listFindings({ limit: findingsMax });
  return {
    orders: toOrderCounts(await views.countByStatus({ sinceMs: countedMs })),
    due: due.slice(0, dueMinutes),
    lateness: latenessOf(await views.readLateness({ sinceMs: latenessSinceMs, limit: latenessOrdersMax })),
    outbox: { rows: outbox.rows, oldestMs: inSeconds(outbox.oldestMs) },
    effects: { rows: effects.rows, oldestMs: inSeconds(effects.oldestMs) },
    parked,
    notices,
    refunds: {
      waiting: backlog.refundsWaiting,
      oldestMs: inSeconds(backlog.oldestRefundMs),
      failed: backlog.refundsFailed,
      quarantined: backlog.quarantined,
    },
    findings: findings.map(({ id, at, activityId, kind, action, healedAt }) => ({
      ...{ id, activityId, kind, action },
      at: at.toISOString(),
      healedAt: healedAt?.toISOString() ?? null,
    })),
    workers: workers
      .slice(0, workersMax)
      .map(({ startedAt: _startedAt, heartbeatAt: _heartbeatAt, ...worker }) => worker),
  };
}

/** So that a state in which nothing happens stays the same state. */
function inSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}

function latenessOf(lateMs: readonly number[]): Lateness | null {
  if (lateMs.length === 0) return null;
  const sorted = [...lateMs].sort((left, right) => left - right);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return {
    orders: sorted.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    maxMs: sorted.at(-1) ?? 0,
  };
}

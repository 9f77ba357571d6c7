import type { OrderViews } from '@lapse/order-repository';
import { type Closable, type Logger, repeat } from '@lapse/runtime';
import type { HistoryPoint, OrderCounts } from './live-states.ts';

const everyMs = 5_000;
/** Half an hour. */
const pointsMax = 360;
/** Orders that count: those whose deadline is still to come, or was at most so long ago. */
export const countedMs = 3_600_000;

export interface History extends Closable {
  /** Oldest first. */
  points(): readonly HistoryPoint[];
}

/**
 * Keep the last half hour of the orders' counts in memory, one statement every 5 s, whoever looks: an operator opens the
 * page after something has happened, and wants to see what was before.
 */
export function keepHistory({ views, log }: { readonly views: OrderViews; readonly log: Logger }): History {
  const points: HistoryPoint[] = [];
  const sampling = repeat({
    name: 'keep history',
    everyMs,
    log,
    task: async () => {
      const counts = await views.countByStatus({ sinceMs: countedMs });
      points.push({ at: Math.round(views.now() / 1_000), ...toOrderCounts(counts) });
      if (points.length > pointsMax) points.shift();
    },
  });
  return { points: () => points, close: sampling.close, stopping: sampling.stopping };
}

export function toOrderCounts(counts: Awaited<ReturnType<OrderViews['countByStatus']>>): OrderCounts {
  return {
    pending: counts.PENDING,
    paid: counts.PAID,
    closed: counts.TIMEOUT_CLOSED,
    cancelled: counts.CANCELLED,
  };
}

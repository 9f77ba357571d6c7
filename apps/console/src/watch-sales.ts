import type { DueDeadlines, OrderViews } from '@lapse/order-repository';
import { type Logger, type Repeat, repeat } from '@lapse/runtime';
import type { FanOut } from './fan-out.ts';
import type { SalesState } from './live-states.ts';
import { saleState } from './sale-state.ts';

/** Sales on the page: the newest of those that are live. */
const salesMax = 50;
/** Deadlines read to say when places come back: 10 ms of MySQL. */
const deadlinesMax = 5_000;
/** They change with every order, and a buyer who waits for one is told by the count of places itself. */
const deadlinesEveryMs = 2_000;

export const salesTopic = 'sales';

export interface WatchOptions {
  readonly views: OrderViews;
  readonly fanOut: FanOut;
  readonly everyMs: number;
  readonly log: Logger;
}

/** One look at MySQL for everybody who looks at sales: one statement, and none while nobody does. */
export function watchSales({ views, fanOut, everyMs, log }: WatchOptions): Repeat {
  let due: DueDeadlines | undefined;
  let dueReadAt = Number.NEGATIVE_INFINITY;
  return repeat({
    name: 'watch sales',
    everyMs,
    log,
    task: async () => {
      if (!fanOut.topics().includes(salesTopic)) return;
      const activities = await views.listLiveActivities(salesMax);
      const isSoldOut = activities.some(({ available }) => available === 0);
      if (isSoldOut && performance.now() - dueReadAt >= deadlinesEveryMs) {
        due = await views.readDueDeadlines(deadlinesMax);
        dueReadAt = performance.now();
      }
      const sales = activities.map((activity) => saleState(activity, due, views.now()));
      fanOut.publish(salesTopic, { sales } satisfies SalesState);
    },
  });
}

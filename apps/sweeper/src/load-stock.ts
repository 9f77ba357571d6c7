import type { Activity, OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import type { LoadedStock, Stock } from '@lapse/stock';
import { type ExpectedLoad, rebuildStock } from '@lapse/stock-audit';
import { listLiveFirst } from './list-live-first.ts';
import { stockLoads } from './metrics.ts';

/** Of so many runs one looks at activities that are over too: one a minute, at the default LAPSE_REPAIR_EVERY. */
const runsPerWholeLook = 60;
/** How long a run rebuilds activities that are over, before the live ones have their next look. */
const overBudgetMs = 2_000;

export interface LoadStockParts {
  readonly orders: Pick<OrderRepository, 'listActivities' | 'rebuildSnapshot'>;
  readonly stock: Pick<Stock, 'load' | 'readLoad' | 'readLoadToken'>;
  readonly log: Logger;
}

/**
 * Compare the generation of every activity in Redis, and the server that it is on, with what MySQL has noted, and
 * rebuild the stock of those that differ or are gone: Redis lost its data, was started again, maybe from an older
 * snapshot, or a replica that lagged has taken over; or a load was cut short. Sales of such an activity refuse
 * meanwhile, and resume by themselves. An activity that fails, or whose node of a cluster is away, does not stop the
 * others; the first error is thrown at the end. Live ones come first. One that is over is looked at in the first run,
 * and then seldom: what Redis is still owed of it waits in MySQL.
 * @returns the activities rebuilt.
 */
export function loadStock(parts: LoadStockParts) {
  let failures: unknown[] = [];
  const select = async (page: readonly Activity[]): Promise<Activity[]> => {
    const loads = await Promise.allSettled(page.map(({ id }) => parts.stock.readLoad(id)));
    return page.filter((activity, index) => {
      const load = loads[index];
      if (load?.status === 'rejected') failures.push(load.reason);
      return load?.status === 'fulfilled' && !isLoaded(load.value, activity);
    });
  };
  const listUnloaded = listLiveFirst(parts.orders, { runsPerWholeLook, overBudgetMs, select });
  return async (signal: AbortSignal): Promise<number[]> => {
    failures = [];
    const loaded: number[] = [];
    for await (const { id } of listUnloaded(signal)) {
      try {
        if (!(await rebuild(parts, id))) continue;
        loaded.push(id);
        stockLoads.inc();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) {
      throw new Error('stock of at least one activity could not be loaded', { cause: failures[0] });
    }
    return loaded;
  };
}

function isLoaded(load: LoadedStock | null, expected: ExpectedLoad): boolean {
  return load?.generation === expected.generation && load.runId === expected.stockRunId;
}

/** Not when another sweeper has finished just before: Redis then holds what MySQL has noted. */
function rebuild(parts: LoadStockParts, activityId: number): Promise<boolean> {
  const why = 'stock in Redis was absent or out of date: rebuilt from MySQL';
  return rebuildStock(parts, activityId, why, (load, expected) => !isLoaded(load, expected));
}

import type { Activity, OrderRepository } from '@lapse/order-repository';
import { LRUCache } from 'lru-cache';

/** How old an answer may be. A sale's terms never change; its counts, capacity, generation and Redis do. */
export const activityFreshMs = 1_000;
/** Most activities kept, those that do not exist among them, so that guessing numbers costs no query each. */
const activitiesMax = 1_000;

export interface ActivityCache {
  /** At most one query per activity and second from this process, however many ask at once. */
  read(id: number): Promise<Activity | undefined>;
  /** Ask MySQL next time: the generation that was cached is an old one, or the activity is new. */
  forget(id: number): void;
}

/** Reads activities through a small cache. A failed read is not kept; everyone who waited for it gets the error. */
export function createActivityCache(orders: Pick<OrderRepository, 'readActivity'>): ActivityCache {
  const cache = new LRUCache<number, { readonly activity: Activity | undefined }>({
    max: activitiesMax,
    ttl: activityFreshMs,
    fetchMethod: async (id) => ({ activity: await orders.readActivity(id) }),
    // Without it, forgetting an activity fails everybody who waits for it at that moment.
    ignoreFetchAbort: true,
  });
  return {
    // The look first: a fetch costs more than all the rest, also where the answer is there.
    read: async (id) => (cache.get(id) ?? (await cache.fetch(id)))?.activity,
    forget: (id) => {
      cache.delete(id);
    },
  };
}

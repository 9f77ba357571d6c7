import type { Activity, OrderRepository } from '@lapse/order-repository';

/** Activities read in one go, and compared in one round trip to Redis. */
const activitiesPerPageMax = 500;

/**
 * Every activity, a page at a time, oldest first; ends early when the signal aborts. `onlyLive` leaves out those that
 * are over: they grow more for ever, and nothing is sold in them any more, so they are looked at more seldom.
 */
export async function* listAllActivities(
  orders: Pick<OrderRepository, 'listActivities'>,
  signal: AbortSignal,
  { onlyLive }: { readonly onlyLive: boolean },
): AsyncGenerator<readonly Activity[]> {
  let afterId = 0;
  while (!signal.aborted) {
    const page = await orders.listActivities({ afterId, limit: activitiesPerPageMax, onlyLive });
    if (page.length > 0) yield page;
    if (page.length < activitiesPerPageMax) return;
    afterId = page.at(-1)?.id ?? afterId;
  }
}

import type { Activity, OrderRepository } from '@lapse/order-repository';

/** Activities read in one go, and compared in one round trip to Redis. */
const activitiesPerPageMax = 500;

/** Every activity, a page at a time, oldest first; ends early when the signal aborts. */
export async function* listAllActivities(
  orders: Pick<OrderRepository, 'listActivities'>,
  signal: AbortSignal,
): AsyncGenerator<readonly Activity[]> {
  let afterId = 0;
  while (!signal.aborted) {
    const page = await orders.listActivities({ afterId, limit: activitiesPerPageMax });
    if (page.length > 0) yield page;
    if (page.length < activitiesPerPageMax) return;
    afterId = page.at(-1)?.id ?? afterId;
  }
}

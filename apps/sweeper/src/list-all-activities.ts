import type { Activity, OrderRepository } from '@lapse/order-repository';

/** Activities read in one go, and compared in one round trip to Redis. */
const activitiesPerPageMax = 500;

/**
 * All live activities, or all that are over, a page at a time, oldest first; ends early when the signal aborts. Those
 * that are over grow more for ever, and nothing is sold in them any more: no live one may have to wait for them.
 */
export async function* listAllActivities(
  orders: Pick<OrderRepository, 'listActivities'>,
  signal: AbortSignal,
  { only, ...from }: { readonly only: 'live' | 'over'; readonly afterId: number },
): AsyncGenerator<readonly Activity[]> {
  let { afterId } = from;
  while (!signal.aborted) {
    const page = await orders.listActivities({ afterId, limit: activitiesPerPageMax, only });
    if (page.length > 0) yield page;
    if (page.length < activitiesPerPageMax) return;
    afterId = page.at(-1)?.id ?? afterId;
  }
}

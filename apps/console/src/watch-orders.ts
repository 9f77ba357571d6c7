import type { WatchedOrder } from '@lapse/order-repository';
import { type Repeat, repeat } from '@lapse/runtime';
import type { OrderState } from './live-states.ts';
import type { WatchOptions } from './watch-sales.ts';

/** Orders of one statement. */
const ordersPerLookMax = 1_000;

const orderPrefix = 'order:';
export const orderTopic = (orderId: string): string => `${orderPrefix}${orderId}`;

/** One look at MySQL for all orders that somebody watches: two statements for each thousand of them. */
export function watchOrders({ views, fanOut, everyMs, log }: WatchOptions): Repeat {
  return repeat({
    name: 'watch orders',
    everyMs,
    log,
    task: async () => {
      const ids = fanOut
        .topics()
        .filter((topic) => topic.startsWith(orderPrefix))
        .map((topic) => topic.slice(orderPrefix.length));
      for (let at = 0; at < ids.length; at += ordersPerLookMax) {
        for (const order of await views.watchOrders(ids.slice(at, at + ordersPerLookMax))) {
          if (order !== undefined) fanOut.publish(orderTopic(order.id), orderState(order));
        }
      }
    },
  });
}

/** Without its buyer: whoever gets it is that buyer, or an operator who asks for it by itself. */
export function orderState({ userId: _userId, ...order }: WatchedOrder): OrderState {
  return {
    ...order,
    createdAt: order.createdAt.toISOString(),
    remindAt: order.remindAt.toISOString(),
    expiresAt: order.expiresAt.toISOString(),
    remindedAt: order.remindedAt?.toISOString() ?? null,
    paidAt: order.paidAt?.toISOString() ?? null,
    closedAt: order.closedAt?.toISOString() ?? null,
  };
}

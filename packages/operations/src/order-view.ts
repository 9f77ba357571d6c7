import type { ActivityView, OrderView } from '@lapse/contracts';
import type { Activity, NewOrder, Order } from '@lapse/order-repository';

/** An order as it is now. */
export function toOrderView(order: Order): OrderView {
  return {
    ...firstAnswer(order),
    remindAt: order.remindAt.toISOString(),
    expiresAt: order.expiresAt.toISOString(),
    status: order.status,
    remindedAt: order.remindedAt?.toISOString() ?? null,
    paidAt: order.paidAt?.toISOString() ?? null,
    closedAt: order.closedAt?.toISOString() ?? null,
  };
}

/**
 * An order as it was first answered, whatever became of it since: a repeated create gets the same answer
 * as the first, and `GET /v1/orders/:id` tells the present.
 */
export function firstAnswer(order: Order | NewOrder): OrderView {
  const remindAt = ('firstRemindAt' in order && order.firstRemindAt) || order.remindAt;
  const expiresAt = ('firstExpiresAt' in order && order.firstExpiresAt) || order.expiresAt;
  return {
    id: order.id,
    activityId: order.activityId,
    quantity: order.quantity,
    amountMinor: order.amountMinor,
    currency: order.currency,
    status: 'PENDING',
    createdAt: order.createdAt.toISOString(),
    remindAt: remindAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    remindedAt: null,
    paidAt: null,
    closedAt: null,
  };
}

export function toActivityView(activity: Activity): ActivityView {
  const {
    generation: _internal,
    saleStartsAt,
    saleEndsAt,
    salePausedAt,
    archivedAt,
    createdAt,
    ...shown
  } = activity;
  return {
    ...shown,
    saleStartsAt: saleStartsAt?.toISOString() ?? null,
    saleEndsAt: saleEndsAt?.toISOString() ?? null,
    salePausedAt: salePausedAt?.toISOString() ?? null,
    archivedAt: archivedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}

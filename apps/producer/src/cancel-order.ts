import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { CancelRefusal, Order, OrderRepository } from '@lapse/order-repository';
import type { Problem } from './problem-reply.ts';

export interface CancelPorts extends EffectPorts {
  readonly orders: Pick<OrderRepository, 'cancelOrder' | 'markEffectsApplied'>;
}

export type CancelAnswer =
  | { readonly kind: 'cancelled'; readonly order: Order }
  | { readonly kind: 'refused'; readonly problem: Problem };

/**
 * Cancel a buyer's pending order. MySQL decides; Redis follows at once when it can, else by the sweeper, and
 * the buyer need not know. An order that is being paid is refused until the provider has given up its payment, which
 * this call asks for; its repeat a second later goes through, or finds the order paid. Cancelling what is cancelled is
 * answered as the first time.
 */
export async function cancelOrder(
  ports: CancelPorts,
  orderId: string,
  userId: string,
): Promise<CancelAnswer> {
  const result = await ports.orders.cancelOrder(orderId, userId);
  if (result.kind !== 'cancelled') return answerRefusal(result);
  await applyEffects(ports, [result.effect]);
  return { kind: 'cancelled', order: result.order };
}

/** Why an order was not cancelled, unless it was before. */
export function answerRefusal(result: CancelRefusal): CancelAnswer {
  switch (result.kind) {
    case 'paying':
      return { kind: 'refused', problem: { code: 'PAYMENT_IN_PROGRESS', retryAfterSeconds: 1 } };
    case 'not_pending':
      if (result.order.status === 'CANCELLED') return { kind: 'cancelled', order: result.order };
      return { kind: 'refused', problem: { code: 'ORDER_NOT_PENDING', detail: whyNot(result.order) } };
    case 'not_found':
      return { kind: 'refused', problem: { code: 'ORDER_NOT_FOUND' } };
  }
}

function whyNot({ status }: Order): string {
  if (status === 'PAID') return 'The order is paid: it can no longer be cancelled.';
  return 'The order closed at its deadline.';
}

import { answerRefusal, type CancelAnswer } from '@lapse/operations';
import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { OrderRepository } from '@lapse/order-repository';

export interface CancelPorts extends EffectPorts {
  readonly orders: Pick<OrderRepository, 'cancelOrder' | 'markEffectsApplied'>;
}

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

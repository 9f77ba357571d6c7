import { firstAnswer } from '@lapse/operations';
import type { NewOrder, Order } from '@lapse/order-repository';
import { QueueFullError } from '@lapse/runtime';
import type { CreateAnswer } from './create-answer.ts';
import type { CreatePorts } from './create-ports.ts';
import { ordersReplayed } from './metrics.ts';

/**
 * What a create is answered when this buyer's `earlier` order stands in its way: the first answer again for
 * the same key and request, a misuse of the key for another request, else the order that holds the place.
 */
export function answerFromEarlier(earlier: Order, order: NewOrder): CreateAnswer {
  if (earlier.idempotencyKey !== order.idempotencyKey) {
    return { kind: 'refused', problem: { code: 'ALREADY_HOLDING', orderId: earlier.id } };
  }
  if (!earlier.requestHash.equals(order.requestHash)) {
    return { kind: 'refused', problem: { code: 'IDEMPOTENCY_KEY_REUSED' } };
  }
  ordersReplayed.inc();
  return { kind: 'replayed', order: firstAnswer(earlier) };
}

/**
 * The answer that this key got before, if it was an order. Asked together with whoever else asks now: in a
 * sale that is sold out, each of thousands of refusals looks here first.
 */
export async function findEarlierAnswer(
  ports: Pick<CreatePorts, 'lookups'>,
  order: NewOrder,
): Promise<CreateAnswer | undefined> {
  try {
    const earlier = await ports.lookups.submit(order);
    return earlier && answerFromEarlier(earlier, order);
  } catch (error) {
    // Not "sold out": a repeat of a request that got an order would be told that it got none.
    if (error instanceof QueueFullError) return { kind: 'refused', problem: { code: 'OVERLOADED' } };
    throw error;
  }
}

/** The answer when Redis says that this buyer holds a place already; undefined when no order is found yet. */
export async function findHolder(
  ports: Pick<CreatePorts, 'lookups' | 'orders'>,
  order: NewOrder,
): Promise<CreateAnswer | undefined> {
  const earlier = await findEarlierAnswer(ports, order);
  if (earlier) return earlier;
  // May find this very key after all, when it was committed between the two queries.
  const active = await ports.orders.findActiveOrder(order.activityId, order.userId);
  return active && answerFromEarlier(active, order);
}

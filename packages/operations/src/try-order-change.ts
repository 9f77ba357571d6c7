import {
  type Extension,
  isUndecided,
  judgeExtension,
  type Order,
  type OrderRepository,
} from '@lapse/order-repository';
import { answerRefusal } from './answer-refusal.ts';
import { extendProblem } from './extend-order.ts';
import type { Problem } from './problem.ts';

/**
 * Dry runs: what a change would come to, read without a lock. They hold nothing up and decide nothing: the change
 * itself judges by the same rules once more.
 */
type Tried<Done> = Done | { readonly kind: 'refused'; readonly problem: Problem };

/** @returns the order as it is: one that was cancelled before is answered as it is, and so would the cancel. */
export async function tryCancel(
  orders: Pick<OrderRepository, 'readTimeline'>,
  orderId: string,
): Promise<Tried<{ readonly kind: 'cancelled'; readonly order: Order }>> {
  const timeline = await orders.readTimeline(orderId);
  if (!timeline) return answerRefusal({ kind: 'not_found' });
  const { order, attempts } = timeline;
  if (order.status !== 'PENDING') return answerRefusal({ kind: 'not_pending', order });
  const isBeingPaid = attempts.some(isUndecided);
  return isBeingPaid ? answerRefusal({ kind: 'paying' }) : { kind: 'cancelled', order };
}

/** @returns the order as it is, and the deadline that it would get. */
export async function tryExtend(
  orders: Pick<OrderRepository, 'now' | 'readOrder'>,
  orderId: string,
  extension: Extension,
): Promise<Tried<{ readonly kind: 'extended'; readonly order: Order; readonly expiresAt: Date }>> {
  const order = await orders.readOrder(orderId);
  if (!order) return { kind: 'refused', problem: extendProblem({ kind: 'not_found' }) };
  const judged = judgeExtension(order, extension, orders.now());
  return judged.kind === 'may'
    ? { kind: 'extended', order, expiresAt: judged.expiresAt }
    : { kind: 'refused', problem: extendProblem(judged) };
}

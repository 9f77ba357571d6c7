import type { OutboxRow } from '@lapse/contracts';
import type { ExtendRefusal, Extension, OperatorRequest, OrderRepository } from '@lapse/order-repository';
import { type OperatorAnswer, orderAnswer } from './operator-answer.ts';
import type { Problem } from './problem.ts';

export interface ExtendPorts {
  readonly orders: Pick<OrderRepository, 'extendOrder'>;
  /** Takes the row that arms the new deadline; never throws. */
  readonly relay: { add(row: OutboxRow): void };
}

/** Move an order's deadline to a later time, by an operator's hand. MySQL decides against a close and a payment. */
export async function extendOrder(
  { orders, relay }: ExtendPorts,
  orderId: string,
  extension: Extension,
  request: OperatorRequest,
): Promise<OperatorAnswer> {
  const extended = await orders.extendOrder(orderId, extension, request, ({ order }) =>
    orderAnswer(200, order),
  );
  switch (extended.kind) {
    case 'done':
      relay.add(extended.result.outbox);
      return extended;
    case 'replayed':
      return extended;
    case 'key_reused':
      return refused({ code: 'IDEMPOTENCY_KEY_REUSED' });
    case 'refused':
      break;
  }
  return refused(extendProblem(extended.result));
}

/** Why a deadline does not move. */
export function extendProblem(refusal: ExtendRefusal): Problem {
  switch (refusal.kind) {
    case 'not_found':
      return { code: 'ORDER_NOT_FOUND' };
    case 'not_pending':
      return {
        code: 'ORDER_NOT_PENDING',
        detail: `The order is ${refusal.order.status}: it has no deadline any more.`,
      };
    case 'not_later':
      return { code: 'DEADLINE_NOT_LATER', expiresAt: refusal.order.expiresAt.toISOString() };
    case 'too_late':
      return { code: 'DEADLINE_TOO_LATE', latestExpiresAt: refusal.latest.toISOString() };
  }
}

function refused(problem: Problem): OperatorAnswer {
  return { kind: 'refused', problem };
}

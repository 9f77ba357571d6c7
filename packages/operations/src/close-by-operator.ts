import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { CloseRefusal, OperatorRequest, OrderRepository } from '@lapse/order-repository';
import { type OperatorAnswer, orderAnswer } from './operator-answer.ts';
import type { Problem } from './problem.ts';

interface Ports extends EffectPorts {
  readonly orders: Pick<OrderRepository, 'closeByOperator' | 'markEffectsApplied'>;
}

/** Close one order that is past its deadline, by an operator's hand. MySQL decides, and Redis follows. */
export async function closeByOperator(
  ports: Ports,
  orderId: string,
  request: OperatorRequest,
): Promise<OperatorAnswer> {
  const closed = await ports.orders.closeByOperator(orderId, request, ({ order }) => orderAnswer(200, order));
  switch (closed.kind) {
    case 'done':
      await applyEffects(ports, [closed.result.effect]);
      return closed;
    case 'replayed':
      return closed;
    case 'key_reused':
      return { kind: 'refused', problem: { code: 'IDEMPOTENCY_KEY_REUSED' } };
    case 'refused':
      return { kind: 'refused', problem: problemOf(closed.result) };
  }
}

function problemOf(refusal: CloseRefusal): Problem {
  switch (refusal.kind) {
    case 'not_found':
      return { code: 'ORDER_NOT_FOUND' };
    case 'not_pending':
      return { code: 'ORDER_NOT_PENDING', detail: `The order is ${refusal.order.status}.` };
    case 'not_due':
      return { code: 'ORDER_NOT_DUE', expiresAt: refusal.order.expiresAt.toISOString() };
    case 'settling':
      return {
        code: 'PAYMENT_IN_PROGRESS',
        detail: 'It waits for its payment provider: it closes when that has answered, or its grace is over.',
        retryAfterSeconds: Math.ceil(refusal.forMs / 1_000),
      };
  }
}

import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { OperatorRequest, OrderRepository } from '@lapse/order-repository';
import { answerRefusal } from './answer-refusal.ts';
import { type OperatorAnswer, orderAnswer } from './operator-answer.ts';

interface Ports extends EffectPorts {
  readonly orders: Pick<OrderRepository, 'cancelByOperator' | 'markEffectsApplied'>;
}

/**
 * Cancel any pending order by an operator's hand, as its buyer would: MySQL decides, against a close and a payment,
 * and Redis follows. An order that is cancelled already is answered as it is, and nothing is noted of it.
 */
export async function cancelByOperator(
  ports: Ports,
  orderId: string,
  request: OperatorRequest,
): Promise<OperatorAnswer> {
  const cancelled = await ports.orders.cancelByOperator(orderId, request, ({ order }) =>
    orderAnswer(200, order),
  );
  switch (cancelled.kind) {
    case 'done':
      await applyEffects(ports, [cancelled.result.effect]);
      return cancelled;
    case 'replayed':
      return cancelled;
    case 'key_reused':
      return { kind: 'refused', problem: { code: 'IDEMPOTENCY_KEY_REUSED' } };
    case 'refused':
      break;
  }
  const answer = answerRefusal(cancelled.result);
  return answer.kind === 'refused' ? answer : { kind: 'done', answer: orderAnswer(200, answer.order) };
}

import { refundPaidByHandView } from '@lapse/contracts';
import type { OperatorRequest, OrderRepository } from '@lapse/order-repository';
import type { OperatorAnswer } from './operator-answer.ts';
import type { Problem } from './problem.ts';

export interface MarkRefundPaidPorts {
  readonly orders: Pick<OrderRepository, 'markRefundPaid'>;
}

/** Note that a person has paid a refund back. From then on no settler asks a provider for it. */
export async function markRefundPaid(
  { orders }: MarkRefundPaidPorts,
  refund: { readonly id: number; readonly reference: string | null },
  request: OperatorRequest,
): Promise<OperatorAnswer> {
  const marked = await orders.markRefundPaid(refund, request, (paid) => ({
    status: 200,
    body: Buffer.from(JSON.stringify(refundPaidByHandView.parse({ ...paid, state: 'REFUNDED' }))),
  }));
  switch (marked.kind) {
    case 'done':
    case 'replayed':
      return marked;
    case 'key_reused':
      return refused({ code: 'IDEMPOTENCY_KEY_REUSED' });
    case 'refused':
      break;
  }
  const { result } = marked;
  switch (result.kind) {
    case 'not_found':
      return refused({ code: 'REFUND_NOT_FOUND' });
    case 'not_owed':
      return refused({ code: 'REFUND_NOT_OWED', detail: `The payment is ${result.state}.` });
    case 'being_paid':
      return refused({ code: 'REFUND_IN_PROGRESS', retryAfterSeconds: Math.ceil(result.forMs / 1_000) });
  }
}

function refused(problem: Problem): OperatorAnswer {
  return { kind: 'refused', problem };
}

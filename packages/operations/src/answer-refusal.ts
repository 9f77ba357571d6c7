import type { CancelRefusal, Order } from '@lapse/order-repository';
import type { Problem } from './problem.ts';

export type CancelAnswer =
  | { readonly kind: 'cancelled'; readonly order: Order }
  | { readonly kind: 'refused'; readonly problem: Problem };

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

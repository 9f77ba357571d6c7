import { idToBytes } from './binary-id.ts';
import { cancelOnce } from './cancel-order.ts';
import type { Database } from './database.ts';
import { changeByOperator } from './operator-change.ts';
import type { OperatorRequest, OperatorResult, StoredAnswer } from './operator-result.ts';
import type { CancelledOrder, CancelRefusal } from './order-repository.ts';
import { userToBytes } from './user-bytes.ts';

/**
 * Cancel any pending order by an operator's hand: the buyer's own cancel, noted with who did it and why in the same
 * transaction. It waits for a close or a payment that has the order, and loses to it. An order that is being paid is
 * refused as `paying`, and its payment is settled from now on: the repeat then cancels, or finds the order paid.
 */
export function cancelByOperator(
  database: Database,
  id: string,
  request: OperatorRequest,
  answer: (result: CancelledOrder) => StoredAnswer,
): Promise<OperatorResult<CancelledOrder, CancelRefusal>> {
  const canceller = { cause: 'operator', actor: userToBytes(request.actor) } as const;
  return changeByOperator(database, request, {
    change: async (session) => {
      const { result } = await cancelOnce(session, idToBytes(id), canceller);
      if (result.kind !== 'cancelled') return { kind: 'refused', result };
      const { id: target } = result.order;
      return { kind: 'done', result, actions: [{ action: 'order.cancel', targetKind: 'order', target }] };
    },
    answer,
  });
}

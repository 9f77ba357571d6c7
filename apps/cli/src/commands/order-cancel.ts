import { cancelByOperator, toOrderView, tryCancel } from '@lapse/operations';
import { changeResult, wouldDo } from '../change-result.ts';
import type { Command } from '../command.ts';
import { askedChange } from '../operator-request.ts';
import { refusedResult } from '../refused-result.ts';
import { typedOrderId } from '../typed-ids.ts';

/** `lapse order cancel`: any pending order, as its buyer would. MySQL decides; Redis follows, now or by the sweeper. */
export const cancelOrder: Command = async (context, input) => {
  const id = typedOrderId(input);
  const { apply, request } = askedChange(input, 'order cancel', [id]);
  const orders = await context.orders();
  if (apply) {
    const ports = { orders, stock: await context.stock(), log: context.log };
    const answer = await cancelByOperator(ports, id, request);
    return changeResult(answer, (order) => `order ${id} is ${order.status}`);
  }
  const tried = await tryCancel(orders, id);
  if (tried.kind === 'refused') return refusedResult(tried.problem);
  const { order } = tried;
  if (order.status !== 'PENDING')
    return wouldDo(`order ${id} is ${order.status} already`, toOrderView(order));
  const places = `${order.quantity} of activity ${order.activityId}`;
  return wouldDo(
    `order ${id} of ${order.userId} would be cancelled, and give back ${places}`,
    toOrderView(order),
  );
};

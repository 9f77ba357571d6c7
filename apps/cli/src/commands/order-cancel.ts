import { cancelByOperator, toOrderView } from '@lapse/operations';
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
  const order = await orders.readOrder(id);
  if (!order) return refusedResult({ code: 'ORDER_NOT_FOUND' });
  if (order.status !== 'PENDING') {
    return refusedResult({ code: 'ORDER_NOT_PENDING', detail: `The order is ${order.status}.` });
  }
  const places = `${order.quantity} of activity ${order.activityId}`;
  return wouldDo(
    `order ${id} of ${order.userId} would be cancelled, and give back ${places}`,
    toOrderView(order),
  );
};

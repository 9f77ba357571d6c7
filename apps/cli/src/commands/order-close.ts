import { closeByOperator, toOrderView } from '@lapse/operations';
import { changeResult, wouldDo } from '../change-result.ts';
import type { Command } from '../command.ts';
import { askedChange } from '../operator-request.ts';
import { refusedResult } from '../refused-result.ts';
import { typedOrderId } from '../typed-ids.ts';

/** `lapse order close`: what its message or the sweep would do; only past its deadline, by the database clock. */
export const closeOrder: Command = async (context, input) => {
  const id = typedOrderId(input);
  const { apply, request } = askedChange(input, 'order close', [id]);
  const orders = await context.orders();
  if (apply) {
    const ports = { orders, stock: await context.stock(), log: context.log };
    const answer = await closeByOperator(ports, id, request);
    return changeResult(answer, (order) => `order ${id} is ${order.status}`);
  }
  const order = await orders.readOrder(id);
  if (!order) return refusedResult({ code: 'ORDER_NOT_FOUND' });
  if (order.status !== 'PENDING') {
    return refusedResult({ code: 'ORDER_NOT_PENDING', detail: `The order is ${order.status}.` });
  }
  const lateMs = orders.now() - order.expiresAt.getTime();
  if (lateMs < 0) return refusedResult({ code: 'ORDER_NOT_DUE', expiresAt: order.expiresAt.toISOString() });
  return wouldDo(`order ${id} is ${lateMs} ms past its deadline, and would be closed`, toOrderView(order));
};

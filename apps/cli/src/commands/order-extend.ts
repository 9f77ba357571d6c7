import { extendOrderBody } from '@lapse/contracts';
import { extendOrder as extend, toOrderView, tryExtend } from '@lapse/operations';
import { changeResult, wouldDo } from '../change-result.ts';
import type { Command } from '../command.ts';
import { askedChange } from '../operator-request.ts';
import { readInput } from '../read-input.ts';
import { refusedResult } from '../refused-result.ts';
import { typedOrderId } from '../typed-ids.ts';

/** The sweeper sends what is in the outbox, so that this command needs no broker. */
const leftToSweeper = { add: () => undefined };

/** `lapse order extend`: a deadline moves to a later time only. */
export const extendOrder: Command = async (context, input) => {
  const id = typedOrderId(input);
  const { byMs, until } = readInput(extendOrderBody, {
    byMs: input.options.byMs,
    until: input.options.until,
    reason: 'checked below',
  });
  const extension = until === undefined ? { byMs: byMs ?? 0 } : { until: new Date(until) };
  const { apply, request } = askedChange(input, 'order extend', [id, extension]);
  const orders = await context.orders();
  const { time } = context.words;
  if (apply) {
    const answer = await extend({ orders, relay: leftToSweeper }, id, extension, request);
    return changeResult(answer, (order) => `order ${id} closes at ${time(String(order.expiresAt))}`);
  }
  const tried = await tryExtend(orders, id, extension);
  if (tried.kind === 'refused') return refusedResult(tried.problem);
  const { order, expiresAt } = tried;
  const text = `the deadline of order ${id} would move from ${time(order.expiresAt)} to ${time(expiresAt)}`;
  return wouldDo(text, toOrderView(order));
};

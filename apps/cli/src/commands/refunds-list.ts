import { refundList, refundStates } from '@lapse/contracts';
import { toRefundView } from '@lapse/operations';
import { z } from 'zod';
import type { Command } from '../command.ts';
import { listResult, nextOf } from '../list-result.ts';
import { readInput, typedLimit, typedNumber } from '../read-input.ts';

const options = z.object({
  state: z.string().toUpperCase().pipe(z.enum(refundStates)).default('REFUND_PENDING'),
  after: typedNumber.default(0),
  limit: typedLimit,
});

/** `lapse refunds list` */
export const listRefunds: Command = async (context, input) => {
  const { state, after: afterId, limit } = readInput(options, input.options);
  const orders = await context.orders();
  const refunds = (await orders.listRefunds({ state, afterId, limit })).map(toRefundView);
  const { time, amount } = context.words;
  return listResult(context, {
    shape: refundList,
    data: { refunds, next: nextOf(refunds, limit) },
    head: ['id', 'order', 'payment', 'amount', 'received', 'tries', 'why', 'last answer'],
    rows: refunds.map((row) => [
      ...[row.id, row.orderId, row.paymentId, amount(row.amountMinor, row.currency)],
      ...[time(row.receivedAt), row.tries, row.reason, row.lastError],
    ]),
    empty: emptyWords(state),
  });
};

/** Who asks what became of a refund asks without a state, and most have gone out by then. */
function emptyWords(state: (typeof refundStates)[number]): string {
  const done =
    state === 'REFUND_PENDING' ? '; those that went back: lapse refunds list --state REFUNDED' : '';
  return `no payment is ${state}${done}`;
}

/** `lapse payments quarantined list` */
export const listQuarantined: Command = (context, input) =>
  listRefunds(context, { ...input, options: { ...input.options, state: 'QUARANTINED' } });

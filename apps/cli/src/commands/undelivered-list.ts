import { deliveryKinds, undeliveredList } from '@lapse/contracts';
import { toUndeliveredView } from '@lapse/operations';
import { z } from 'zod';
import type { Command } from '../command.ts';
import { listResult, nextOf } from '../list-result.ts';
import { readInput, typedLimit, typedNumber } from '../read-input.ts';

const options = z.object({
  kind: z.enum(deliveryKinds).default('notification'),
  after: typedNumber.default(0),
  limit: typedLimit,
});

/** `lapse undelivered list` */
export const listUndelivered: Command = async (context, input) => {
  const { kind, after: afterId, limit } = readInput(options, input.options);
  const orders = await context.orders();
  const page = await orders.listUndelivered(kind, { afterId, limit });
  const undelivered = page.map((each) => toUndeliveredView(kind, each));
  const { time } = context.words;
  return listResult(context, {
    shape: undeliveredList,
    data: { undelivered, next: nextOf(undelivered, limit) },
    head: ['id', 'order', 'what', 'since', 'tries', 'last answer'],
    rows: undelivered.map((row) => [
      ...[row.id, row.orderId, row.what, time(row.createdAt), row.attempts, row.lastError],
    ]),
    empty: `no ${kind} was given up`,
  });
};

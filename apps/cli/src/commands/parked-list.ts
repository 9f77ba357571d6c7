import { orderId, parkedKinds, parkedList, parkedStates } from '@lapse/contracts';
import { toParkedView } from '@lapse/operations';
import { z } from 'zod';
import type { Command } from '../command.ts';
import { listResult, nextOf } from '../list-result.ts';
import { readInput, typedLimit, typedNumber } from '../read-input.ts';

const options = z.object({
  after: typedNumber.default(0),
  limit: typedLimit,
  state: z.enum(parkedStates).default('PARKED'),
  kind: z.enum(parkedKinds).optional(),
  order: orderId.optional(),
});

/** `lapse parked list` */
export const listParked: Command = async (context, input) => {
  const { after: afterId, limit, state, kind, order } = readInput(options, input.options);
  const filter = {
    state,
    ...(kind === undefined ? {} : { kind }),
    ...(order === undefined ? {} : { orderId: order }),
  };
  const orders = await context.orders();
  const parked = (await orders.listParked(filter, { afterId, limit })).map(toParkedView);
  const { time } = context.words;
  return listResult(context, {
    shape: parkedList,
    data: { parked, next: nextOf(parked, limit) },
    head: ['id', 'kind', 'phase', 'since', 'order or message', 'reason'],
    rows: parked.map((row) => [
      row.id,
      row.kind,
      row.phase,
      time(row.createdAt),
      row.orderId ?? row.ref,
      row.reason,
    ]),
    empty: `nothing is ${state}`,
  });
};

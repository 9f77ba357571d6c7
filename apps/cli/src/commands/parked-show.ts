import { parkedView } from '@lapse/contracts';
import { toParkedView } from '@lapse/operations';
import { z } from 'zod';
import type { Command, CommandResult } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainText } from '../plain-text.ts';
import { readInput, typedNumber } from '../read-input.ts';
import { notFoundShape } from '../shapes/change.ts';

/** `lapse parked show`: whatever became of it. */
export const showParked: Command = async (context, input) => {
  const { ID: id } = readInput(z.object({ ID: typedNumber.pipe(z.int().positive()) }), { ID: input.args[0] });
  const orders = await context.orders();
  const [found] = await orders.listParked({}, { afterId: id - 1, limit: 1 });
  if (found?.id !== id) return notFound(id);
  const parked = toParkedView(found);
  const { time } = context.words;
  const facts = [
    ['state', parked.state],
    ['kind', parked.kind],
    ['order', parked.orderId],
    ['message', parked.kind === 'order' ? null : parked.ref],
    ['phase', parked.phase],
    ['since', time(parked.createdAt)],
    ['reason', parked.reason],
    [
      'settled',
      parked.settledAt && `${time(parked.settledAt)} by ${parked.settledBy}: ${parked.settledReason}`,
    ],
    ['body', parked.body],
  ] as const;
  const lines = facts.flatMap(([name, value]) =>
    value === null ? [] : [`${name.padEnd(9)}${plainText(String(value))}`],
  );
  return { shape: parkedView, data: parked, text: [...lines, `Times: ${context.words.zone}`].join('\n') };
};

function notFound(id: number): CommandResult {
  return {
    shape: notFoundShape,
    data: { outcome: 'not_found', id },
    text: `nothing was ever parked under ${id}`,
    exitCode: exitCodes.found,
  };
}

import { createActivityBody } from '@lapse/contracts';
import { openActivity } from '@lapse/operations';
import { z } from 'zod';
import { changeResult, wouldDo } from '../change-result.ts';
import type { Command } from '../command.ts';
import { askedChange } from '../operator-request.ts';
import { readInput, typedNumber } from '../read-input.ts';
import { refusedResult } from '../refused-result.ts';

/** The options that are numbers; the others are text, as in the API's body. */
const numbers = z.looseObject({
  capacity: typedNumber,
  priceMinor: typedNumber,
  quantityMax: typedNumber.optional(),
});
const fields = [
  ...(['name', 'capacity', 'priceMinor', 'currency', 'saleStartsAt', 'saleEndsAt', 'payWithinMs'] as const),
  ...(['remindAfterMs', 'quantityMax', 'latePaymentPolicy', 'paymentGraceMs'] as const),
];

/** `lapse activity create`: with the same limits and defaults as the API. */
export const createActivity: Command = async (context, input) => {
  const typed: Readonly<Record<string, unknown>> = readInput(numbers, input.options);
  const given = fields.filter((name) => typed[name] !== undefined).map((name) => [name, typed[name]]);
  const body = readInput(createActivityBody, Object.fromEntries(given));
  const { apply, request } = askedChange(input, 'activity create', [body]);
  if (!apply) return wouldDo(`"${body.name}" would go on sale with ${body.capacity} places`, body);
  const [orders, stock] = [await context.orders(), await context.stock()];
  const opened = await openActivity({ orders, stock, log: context.log }, body, request);
  if (opened.kind === 'key_reused') return refusedResult({ code: 'IDEMPOTENCY_KEY_REUSED' });
  if (opened.kind === 'refused') throw new Error('an activity was refused');
  return changeResult(opened, ({ id, name, capacity }) => `activity ${id}, ${name}, has ${capacity} places`);
};

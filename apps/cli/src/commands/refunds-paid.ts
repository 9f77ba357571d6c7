import { refundPaidByHandBody } from '@lapse/contracts';
import { markRefundPaid as markPaid } from '@lapse/operations';
import { z } from 'zod';
import { changeResult, wouldDo } from '../change-result.ts';
import type { Command } from '../command.ts';
import { askedChange } from '../operator-request.ts';
import { readInput, typedNumber } from '../read-input.ts';

const typed = z.object({
  ID: typedNumber.pipe(z.int().positive()),
  reference: refundPaidByHandBody.shape.reference,
});

/** `lapse refunds paid`: pay first, then note it here. */
export const markRefundPaid: Command = async (context, input) => {
  const { ID: id, reference = null } = readInput(typed, { ID: input.args[0], ...input.options });
  const { apply, request } = askedChange(input, 'refunds paid', [id, reference]);
  if (!apply) return wouldDo(`refund ${id} would be noted as paid by hand`, { id, reference });
  const answer = await markPaid({ orders: await context.orders() }, { id, reference }, request);
  return changeResult(answer, (refund) => `refund ${id} is ${refund.state}, as ${refund.refundRef}`);
};

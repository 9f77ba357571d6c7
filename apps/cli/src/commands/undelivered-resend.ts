import { deliveryKinds, resendOutcomes } from '@lapse/contracts';
import { z } from 'zod';
import type { Command } from '../command.ts';
import { readInput } from '../read-input.ts';
import { settleCommand } from '../settle-command.ts';
import { typedRowNumbers } from '../typed-rows.ts';

const options = z.object({ kind: z.enum(deliveryKinds).default('notification') });

/** `lapse undelivered resend` */
export const resendUndelivered: Command = (context, input) => {
  const { kind } = readInput(options, input.options);
  return settleCommand({
    name: `undelivered resend ${kind}`,
    ids: typedRowNumbers,
    shape: resendOutcomes,
    settle: (orders, ids, asked, answer) => orders.resendUndelivered(kind, ids, asked, answer),
  })(context, input);
};

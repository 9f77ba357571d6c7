import { dismissOutcomes, refundOutcomes } from '@lapse/contracts';
import type { Command } from '../command.ts';
import { settleCommand } from '../settle-command.ts';
import { typedRowNumbers } from '../typed-rows.ts';

/** `lapse refunds retry` and `lapse payments quarantined refund`: what was captured goes back, once. */
export const refundPayments: Command = settleCommand({
  name: 'refunds retry',
  ids: typedRowNumbers,
  shape: refundOutcomes,
  settle: (orders, ids, options, answer) => orders.refundPayments(ids, options, answer),
});

/** `lapse payments quarantined dismiss` */
export const dismissPayments: Command = settleCommand({
  name: 'payments quarantined dismiss',
  ids: typedRowNumbers,
  shape: dismissOutcomes,
  settle: (orders, ids, options, answer) => orders.dismissPayments(ids, options, answer),
});

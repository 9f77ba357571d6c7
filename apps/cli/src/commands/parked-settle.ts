import { parkedOutcomes } from '@lapse/contracts';
import type { Command } from '../command.ts';
import { settleCommand } from '../settle-command.ts';
import { typedRowNumbers } from '../typed-rows.ts';

/** `lapse parked redrive` */
export const redriveParked: Command = settleCommand({
  name: 'parked redrive',
  ids: typedRowNumbers,
  shape: parkedOutcomes,
  settle: (orders, ids, options, answer) => orders.redriveParked(ids, options, answer),
});

/** `lapse parked drop` */
export const dropParked: Command = settleCommand({
  name: 'parked drop',
  ids: typedRowNumbers,
  shape: parkedOutcomes,
  settle: (orders, ids, options, answer) => orders.dropParked(ids, options, answer),
});

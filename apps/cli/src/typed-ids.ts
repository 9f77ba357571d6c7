import { activityId, orderId } from '@lapse/contracts';
import { z } from 'zod';
import type { CommandInput } from './command.ts';
import { readInput, typedNumber } from './read-input.ts';

const orderIdFault =
  'must be the id of an order: a UUID of version 7, in either case, with or without dashes';

/** As people and MySQL's HEX write it: in either case, with or without dashes. */
const typedId = z
  .string()
  .transform((text) =>
    text.toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})([0-9a-f]{12})$/, '$1-$2-$3-$4-$5'),
  )
  .refine((text) => orderId.safeParse(text).success, orderIdFault);

/** @throws UsageError unless the first argument is an order's id. */
export function typedOrderId({ args }: CommandInput): string {
  return readInput(z.object({ ID: typedId }), { ID: args[0] }).ID;
}

/** @throws UsageError unless the first argument is an activity's number. */
export function typedActivityId({ args }: CommandInput): number {
  const number = typedNumber.pipe(activityId);
  return readInput(z.object({ NUMBER: number }), { NUMBER: args[0] }).NUMBER;
}

import { activityId, orderId } from '@lapse/contracts';
import { z } from 'zod';
import type { CommandInput } from './command.ts';
import { readInput, typedNumber } from './read-input.ts';

/** @throws UsageError unless the first argument is an order's id. */
export function typedOrderId({ args }: CommandInput): string {
  return readInput(z.object({ ID: orderId }), { ID: args[0]?.toLowerCase() }).ID;
}

/** @throws UsageError unless the first argument is an activity's number. */
export function typedActivityId({ args }: CommandInput): number {
  const number = typedNumber.pipe(activityId);
  return readInput(z.object({ NUMBER: number }), { NUMBER: args[0] }).NUMBER;
}

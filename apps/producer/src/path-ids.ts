import { activitiesPerPageMax, activityId, orderId } from '@lapse/contracts';
import { z } from 'zod';

/** An activity's number in an address: digits alone, no sign, no leading zero, no exponent. */
export const activityPath = z.object({
  id: z
    .string()
    .regex(/^[1-9][0-9]{0,15}$/, 'must be the number of an activity')
    .transform(Number)
    .pipe(activityId),
});

/** An order's id in an address. */
export const orderPath = z.object({ id: orderId });

/** A page of activities: those after a number, at most so many. */
export const activityPage = z.strictObject({
  after: z
    .string()
    .regex(/^(0|[1-9][0-9]{0,15})$/, 'must be the number of an activity, or 0')
    .transform(Number)
    .pipe(z.int())
    .default(0),
  limit: z
    .string()
    .regex(/^[1-9][0-9]{0,2}$/, `must be a whole number from 1 to ${activitiesPerPageMax}`)
    .transform(Number)
    .pipe(z.int().max(activitiesPerPageMax))
    .default(activitiesPerPageMax),
});

import { activityId, orderId } from '@lapse/contracts';
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

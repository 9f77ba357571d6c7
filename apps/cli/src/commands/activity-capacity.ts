import { changeCapacityBody } from '@lapse/contracts';
import { changeCapacity as change, toActivityView } from '@lapse/operations';
import { z } from 'zod';
import { changeResult, wouldDo } from '../change-result.ts';
import type { Command } from '../command.ts';
import { askedChange } from '../operator-request.ts';
import { readInput, typedNumber } from '../read-input.ts';
import { refusedResult } from '../refused-result.ts';
import { typedActivityId } from '../typed-ids.ts';

const typed = z.object({ PLACES: typedNumber.pipe(changeCapacityBody.shape.capacity) });
/** The caches of running producers forget it within a second. */
const noCache = { forget: () => undefined };

/** `lapse activity capacity` */
export const changeCapacity: Command = async (context, input) => {
  const id = typedActivityId(input);
  const { PLACES: capacity } = readInput(typed, { PLACES: input.args[1] });
  const { apply, request } = askedChange(input, 'activity capacity', [id, capacity]);
  const orders = await context.orders();
  if (apply) {
    const ports = { orders, stock: await context.stock(), activities: noCache, log: context.log };
    const answer = await change(ports, id, capacity, request);
    return changeResult(
      answer,
      (activity) => `activity ${id} has ${activity.capacity} places, ${activity.available} free`,
    );
  }
  const activity = await orders.readActivity(id);
  if (!activity) return refusedResult({ code: 'ACTIVITY_NOT_FOUND' });
  if (activity.archivedAt) return refusedResult({ code: 'ACTIVITY_ARCHIVED' });
  const taken = activity.capacity - activity.available;
  if (capacity < taken) {
    return refusedResult({ code: 'CAPACITY_BELOW_SOLD', capacity: activity.capacity, taken });
  }
  const text = `the capacity of activity ${id} would go from ${activity.capacity} to ${capacity}; ${taken} places are taken`;
  return wouldDo(text, toActivityView(activity));
};

import { activityView } from '@lapse/contracts';
import { z } from 'zod';

/** Units in one store; null: it has not loaded the activity, or does not answer. */
const placesShape = z.object({ free: z.int(), held: z.int(), sold: z.int(), generation: z.int() }).nullable();

/** `lapse activity show --json`. `agree` is of one moment: in a sale the two differ by what is under way. */
export const activityShowShape = activityView.extend({
  mysql: placesShape,
  redis: placesShape,
  agree: z.boolean(),
});

import { activityPauseView } from '@lapse/contracts';
import { pauseActivity } from '@lapse/operations';
import type { Command } from '../command.ts';
import { askedChange } from '../operator-request.ts';
import { pauseResult } from '../pause-result.ts';
import { refusedResult } from '../refused-result.ts';
import { typedActivityId } from '../typed-ids.ts';

/** The caches of running producers forget it within a second. */
const noCache = { forget: () => undefined };

/** `lapse activity pause`: new orders are refused; closing, paying and reminding go on. */
export const pauseSale: Command = directSale(true);

/** `lapse activity resume` */
export const resumeSale: Command = directSale(false);

function directSale(paused: boolean): Command {
  return async (context, input) => {
    const id = typedActivityId(input);
    const verb = paused ? 'pause' : 'resume';
    const { apply, request } = askedChange(input, `activity ${verb}`, [id]);
    const ports = { orders: await context.orders(), activities: noCache };
    const answer = await pauseActivity(ports, id, paused, { ...request, dryRun: !apply });
    if (answer.kind === 'refused') return refusedResult(answer.problem);
    return pauseResult(activityPauseView, answer.answer.body, `the sale of activity ${id} is ${verb}d`);
  };
}

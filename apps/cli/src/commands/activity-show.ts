import { type Problem, toActivityView } from '@lapse/operations';
import type { ActivityCounts } from '@lapse/order-repository';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { refusedResult } from '../refused-result.ts';
import { activityShowShape } from '../shapes/activity.ts';
import { table } from '../table.ts';
import { typedActivityId } from '../typed-ids.ts';

interface Places {
  readonly free: number;
  readonly held: number;
  readonly sold: number;
  readonly generation: number;
}
const notFound: Problem = { code: 'ACTIVITY_NOT_FOUND' };

/** `lapse activity show`: its places in both stores, side by side. */
export const showActivity: Command = async (context, input) => {
  const id = typedActivityId(input);
  const orders = await context.orders();
  const activity = await orders.readActivity(id);
  const counts = await orders.readActivityCounts(id);
  if (!activity || !counts) return refusedResult(notFound);
  const mysql = placesOf(counts);
  const redis = await readRedis(context, id);
  const agree = JSON.stringify(redis) === JSON.stringify(mysql);
  const view = toActivityView(activity);
  const { time, amount, zone } = context.words;
  const row = (store: string, places: Places | null) =>
    places === null
      ? [store, 'not loaded, or no answer', null, null, null]
      : [store, places.free, places.held, places.sold, places.generation];
  const text = [
    `Activity ${id}: ${view.name}, ${view.capacity} places at ${amount(view.priceMinor, view.currency)}`,
    `pay within ${view.payWithinMs / 1_000} s, reminder after ${view.remindAfterMs / 1_000} s, late payments: ${view.latePaymentPolicy}`,
    `on sale from ${view.saleStartsAt ? time(view.saleStartsAt) : 'the start'} to ${view.saleEndsAt ? time(view.saleEndsAt) : 'no end'}`,
    '',
    table(['', 'free', 'held', 'sold', 'generation'], [row('MySQL', mysql), row('Redis', redis)]),
    view.archivedAt
      ? `Archived ${time(view.archivedAt)}: nothing is sold here any more, and Redis need not know of it.`
      : agree
        ? 'The two agree.'
        : 'The two differ now; `lapse audit` says whether it is more than what is under way.',
    `Times: ${zone}`,
  ];
  return { shape: activityShowShape, data: { ...view, mysql, redis, agree }, text: text.join('\n') };
};

function placesOf({ available, pending, paid, generation }: ActivityCounts): Places {
  return { free: available, held: pending.units, sold: paid.units, generation };
}

async function readRedis(context: Context, id: number): Promise<Places | null> {
  try {
    const counts = await (await context.stock()).readCounts(id);
    if (counts === null) return null;
    return { free: counts.stock, held: counts.held, sold: counts.sold, generation: counts.generation };
  } catch (error) {
    if ((error as { code?: unknown }).code === 'LAPSE_STOCK_UNAVAILABLE') return null;
    throw error;
  }
}

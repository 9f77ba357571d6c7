import { activityList } from '@lapse/contracts';
import { toActivityView } from '@lapse/operations';
import { z } from 'zod';
import type { Command } from '../command.ts';
import { listResult, nextOf } from '../list-result.ts';
import { readInput, typedLimit, typedNumber } from '../read-input.ts';

const options = z.object({ after: typedNumber.default(0), limit: typedLimit });

/** `lapse activity list` */
export const listActivities: Command = async (context, input) => {
  const { after: afterId, limit } = readInput(options, input.options);
  const orders = await context.orders();
  const activities = (await orders.listActivities({ afterId, limit })).map(toActivityView);
  const { time, amount } = context.words;
  return listResult(context, {
    shape: activityList,
    data: { activities, next: nextOf(activities, limit) },
    head: ['id', 'name', 'places', 'free', 'price', 'pay within', 'sale starts', 'sale ends'],
    rows: activities.map((row) => [
      ...[row.id, row.name, row.capacity, row.available, amount(row.priceMinor, row.currency)],
      ...[`${row.payWithinMs / 1_000} s`, row.saleStartsAt && time(row.saleStartsAt)],
      row.saleEndsAt && time(row.saleEndsAt),
    ]),
    empty: 'there is no activity',
  });
};

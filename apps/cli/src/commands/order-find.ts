import { activityId, orderId, userId } from '@lapse/contracts';
import { toOrderView } from '@lapse/operations';
import type { OrderFilter } from '@lapse/order-repository';
import { z } from 'zod';
import type { Command } from '../command.ts';
import { readInput, typedLimit, typedNumber } from '../read-input.ts';
import { orderFindShape } from '../shapes/order.ts';
import { table } from '../table.ts';
import { UsageError } from '../usage-error.ts';

const options = z.object({
  user: userId.optional(),
  activity: typedNumber.pipe(activityId).optional(),
  payment: z.string().min(1).max(512).optional(),
  before: orderId.optional(),
  limit: typedLimit,
});

/** `lapse order find`: by user, activity or both, or by payment. */
export const findOrders: Command = async (context, input) => {
  const { before, limit, ...asked } = readInput(options, input.options);
  const filter = filterOf(asked);
  const orders = await context.orders();
  const found = await orders.findOrders({
    filter,
    limit,
    ...(before === undefined ? {} : { beforeId: before }),
  });
  const next = found.length < limit ? null : (found.at(-1)?.id ?? null);
  const { words } = context;
  const rows = found.map((order) => [
    ...[order.id, order.activityId, order.userId, order.quantity, order.status],
    words.amount(order.amountMinor, order.currency),
    words.time(order.createdAt),
    words.time(order.expiresAt),
  ]);
  const head = ['order', 'activity', 'user', 'places', 'status', 'amount', 'created', 'deadline'];
  const more = next === null ? '' : `\nmore: --before ${next}`;
  return {
    shape: orderFindShape,
    data: { orders: found.map((order) => ({ ...toOrderView(order), userId: order.userId })), next },
    text: found.length === 0 ? 'no such order' : `${table(head, rows)}${more}\nTimes: ${words.zone}`,
  };
};

function filterOf(asked: {
  readonly user?: string | undefined;
  readonly activity?: number | undefined;
  readonly payment?: string | undefined;
}): OrderFilter {
  const { user, activity, payment } = asked;
  if (payment !== undefined && user === undefined && activity === undefined) {
    return { by: 'payment', paymentId: payment };
  }
  if (payment === undefined && user !== undefined) {
    return { by: 'user', userId: user, ...(activity === undefined ? {} : { activityId: activity }) };
  }
  if (payment === undefined && activity !== undefined) return { by: 'activity', activityId: activity };
  throw new UsageError('--user, --activity or both must be given, or --payment alone');
}

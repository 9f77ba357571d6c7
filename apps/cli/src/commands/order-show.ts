import type { OrderTimeline, TimelineEvent } from '@lapse/contracts';
import { toOrderTimeline } from '@lapse/operations';
import type { Order } from '@lapse/order-repository';
import type { HoldLook } from '@lapse/stock';
import type { Command } from '../command.ts';
import { readHold } from '../read-hold.ts';
import { refusedResult } from '../refused-result.ts';
import { orderShowShape } from '../shapes/order.ts';
import { table } from '../table.ts';
import { typedOrderId } from '../typed-ids.ts';
import type { Words } from '../words.ts';

/** `lapse order show`: everything that is known of an order, oldest first, from both stores. */
export const showOrder: Command = async (context, input) => {
  const id = typedOrderId(input);
  const orders = await context.orders();
  const timeline = await orders.readTimeline(id);
  if (!timeline) return refusedResult({ code: 'ORDER_NOT_FOUND' });
  const hold = await readHold(context, timeline.order);
  const shown = toOrderTimeline(timeline, { forOperator: true });
  const data = {
    order: { ...shown.order, userId: timeline.order.userId },
    archivedAt: shown.archivedAt,
    events: shown.events,
    redis: hold && holdData(hold),
  };
  return { shape: orderShowShape, data, text: textOf(shown, timeline.order, hold, context.words) };
};

function holdData(look: HoldLook) {
  if (look.kind !== 'hold') return { state: look.kind, quantity: null, at: null };
  const { state, quantity, atMs } = look.hold;
  return { state, quantity, at: new Date(atMs).toISOString() };
}

function textOf(shown: OrderTimeline, order: Order, hold: HoldLook | null, words: Words): string {
  const { id, activityId, quantity, amountMinor, currency, status, expiresAt } = shown.order;
  const head = table(
    ['order', 'activity', 'user', 'places', 'amount', 'status', 'deadline'],
    [
      [
        ...[id, activityId, order.userId, quantity, words.amount(amountMinor, currency), status],
        words.time(expiresAt),
      ],
    ],
  );
  const rows = shown.events.map((event) => [
    words.time(event.at),
    event.kind,
    event.what,
    detailOf(event, words),
  ]);
  const from = shown.archivedAt ? `\nFrom the archive, since ${words.time(shown.archivedAt)}` : '';
  return `${head}${from}\n\n${table(['time', 'kind', 'what', 'detail'], rows)}\n\n${redisLine(hold, words)}\nTimes: ${words.zone}`;
}

/** Details that say the same as `what`, or that only a program wants: --json has them all. */
const hidden: ReadonlySet<string> = new Set([
  ...['from', 'to', 'cause', 'stage', 'state', 'phase', 'type', 'action'],
  ...['version', 'outboxId', 'ordersInMessage', 'eventId'],
]);
const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function detailOf({ detail }: TimelineEvent, { time }: Words): string {
  return Object.entries(detail)
    .filter(([name, value]) => !hidden.has(name) && value !== null && value !== 0)
    .map(([name, value]) => `${name}=${isTime.test(String(value)) ? time(String(value)) : value}`)
    .join(' ');
}

function redisLine(look: HoldLook | null, { time }: Words): string {
  if (look === null) return 'Redis: no answer';
  if (look.kind === 'none') return 'Redis: holds nothing for it';
  if (look.kind === 'unreadable') return `Redis: a hold that nobody can read: ${look.text}`;
  return `Redis: ${look.hold.state}, ${look.hold.quantity}, since ${time(new Date(look.hold.atMs))}`;
}

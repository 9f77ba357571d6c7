import { explainOrder, type OrderExplanation } from '@lapse/operations';
import { isUndecided } from '@lapse/order-repository';
import type { Command, CommandInput } from '../command.ts';
import { plainText } from '../plain-text.ts';
import { readHold } from '../read-hold.ts';
import { refusedResult } from '../refused-result.ts';
import { explainShape } from '../shapes/order.ts';
import { typedOrderId } from '../typed-ids.ts';
import { UsageError } from '../usage-error.ts';

/** `lapse explain order`: the same facts as `order show`, as sentences. */
export const explainOneOrder: Command = async (context, input) => {
  const id = onlyOrderId(input);
  const orders = await context.orders();
  const timeline = await orders.readTimeline(id);
  if (!timeline) return refusedResult({ code: 'ORDER_NOT_FOUND' });
  const hold = await readHold(context, timeline.order);
  const sale = await orders.readActivity(timeline.order.activityId);
  // Only where it is set here: the default would say of a reminder elsewhere what it does not do.
  const noticeChannel = context.io.env.LAPSE_NOTIFY_CHANNEL || undefined;
  const explanation = explainOrder(
    { timeline, hold, sale, noticeChannel, nowMs: orders.now() },
    context.words,
  );
  return { shape: explainShape, data: explanation, text: textOf(explanation, context.words.zone) };
};

/** @throws UsageError that names the word that was mistyped: `lapse explain ordr ID` is two ids by the letter. */
function onlyOrderId(input: CommandInput): string {
  const [first = '', second] = input.args;
  if (second === undefined) return typedOrderId(input);
  throw new UsageError(
    /^[0-9a-f-]{32,36}$/i.test(first)
      ? `explain takes one order, and "${second}" is one too many`
      : `explain knows no "${first}": it is \`lapse explain order ID\`, or \`lapse explain ID\``,
  );
}

const topicWidth = 8;

function textOf({ orderId, status, answers, attempts, todo }: OrderExplanation, zone: string): string {
  let last = '';
  const lines = answers.map(({ about, says }) => {
    const name = about === last ? '' : about;
    last = about;
    return `${name.padEnd(topicWidth)}${plainText(says)}`;
  });
  const actions = todo.map((text) => `to do   ${text}`);
  const none = attempts.some(isUndecided)
    ? 'nothing now: Lapse asks the provider until it decides'
    : 'nothing';
  const nothing = actions.length === 0 ? [`to do   ${none}`] : actions;
  return [`Order ${orderId}: ${status}`, ...lines, ...nothing, `Times: ${zone}`].join('\n');
}

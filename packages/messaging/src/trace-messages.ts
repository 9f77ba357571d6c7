import { type TimeoutMessage, topicOf } from '@lapse/contracts';
import { isTracing, traceOrders } from '@lapse/runtime';

type Call = { readonly startedAtMs: number; readonly endedAtMs: number };

const system = { 'messaging.system': 'rocketmq' };

/** In the trace of each order of the message: it was given to the broker. */
export function traceSent(message: TimeoutMessage, messageId: string, call: Call): void {
  if (!isTracing()) return;
  traceOrders({
    name: `send ${topicOf(message.phase)}`,
    kind: 'producer',
    ...call,
    orderIds: message.orders.map(({ orderId }) => orderId),
    attributes: { ...system, 'messaging.message.id': messageId },
  });
}

/** In the trace of each order of the message: how long the broker had it, until it came. */
export function traceReceived(
  message: TimeoutMessage,
  view: { messageId: string; bornTimestamp?: Date | undefined },
): void {
  if (!isTracing()) return;
  const endedAtMs = performance.timeOrigin + performance.now();
  traceOrders({
    name: `receive ${topicOf(message.phase)}`,
    kind: 'consumer',
    startedAtMs: Math.min(view.bornTimestamp?.getTime() ?? endedAtMs, endedAtMs),
    endedAtMs,
    orderIds: message.orders.map(({ orderId }) => orderId),
    attributes: { ...system, 'messaging.message.id': view.messageId },
  });
}

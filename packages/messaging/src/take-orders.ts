import type { TimeoutOrder } from '@lapse/contracts';
import type { DueQueue, HeldMessage } from './due-queue.ts';

/**
 * An order further away than this is re-armed when it comes, so that memory is for what is due soon. A nearer one
 * that its message cannot be held for waits as long as it can first: a broker whose clock is ahead, or a lead
 * above the invisible time, delivers the new message at once, and they must not chase each other.
 */
const rearmAtOnceMs = 300_000;

export interface TakeOptions<V> {
  readonly queue: DueQueue<V>;
  readonly message: HeldMessage<V>;
  readonly orders: readonly TimeoutOrder[];
  /** By the clock that decides what is due. */
  readonly nowMs: number;
  /** Orders due within so long of each other are looked at together, when the last of them can be; 0: each at its own time. */
  readonly gatherMs: number;
}

/** Take a message's orders in hand: each until it is due, or as long as its message may be held. */
export function takeOrders<V>({ queue, message, orders, nowMs, gatherMs }: TakeOptions<V>): void {
  const holdMs = message.holdUntilMs - performance.now();
  for (const order of orders) {
    const inMs = order.dueTime - nowMs;
    const far = inMs > holdMs;
    const rearmAt = inMs > rearmAtOnceMs ? nowMs : nowMs + holdMs;
    const lookAt = gatherMs === 0 ? order.dueTime : Math.ceil(order.dueTime / gatherMs) * gatherMs;
    queue.add(order.orderId, message, { dueAt: far ? rearmAt : lookAt, far });
  }
}

import { ordersPerMessageMax } from '@lapse/contracts';
import { backOffMs, type Logger } from '@lapse/runtime';
import { type DueOrder, type DueQueue, type HeldMessage, type HeldOrder, messagesOf } from './due-queue.ts';
import { messageOf } from './start-client.ts';
import type { StoreFault } from './store-trouble.ts';

/** A retry later than this goes back to the broker: memory is for what is due soon. */
const retryInMemoryMsMax = 10_000;
const retryInMemoryMsMin = 1;
const failureBackOffMs = { minMs: 100, maxMs: 5_000 } as const;
/** While the store is away: what is in hand is due, and closes so much later than it could, once the store is back. */
const awayBackOffMs = { minMs: 100, maxMs: 1_000 } as const;
const timerMsMax = 60_000;
/** Batches in flight at once, while they come full: one is made ready here while the store works on the other. */
const batchesMax = 2;

export interface HandleResult {
  /** Orders to look at again, in so many ms. Every other order of the batch is done. */
  readonly retry: readonly { readonly orderId: string; readonly inMs: number }[];
}

export interface HandleDueOptions<V> {
  readonly queue: DueQueue<V>;
  readonly batchMax: number;
  readonly now: () => number;
  readonly handle: (orders: readonly DueOrder[]) => Promise<HandleResult>;
  readonly rearm: (orders: readonly DueOrder[]) => Promise<void>;
  readonly onDone: (message: HeldMessage<V>) => void;
  /**
   * A call failed with these messages in it: what does that say of the store? What it marks as kept stays in memory past
   * its hold.
   */
  readonly onFailed?: (error: unknown, messages: ReadonlySet<HeldMessage<V>>) => StoreFault;
  /** A call worked. */
  readonly onWorked?: () => void;
  readonly log: Logger;
}

export interface DueHandler {
  /** Look at the queue: something was added. */
  wake(): void;
  /** Take nothing until `resume`. Resolves when the batches in flight are over. */
  hold(): Promise<void>;
  resume(): void;
  /** Take nothing more. Resolves when the batches in flight are over. */
  stop(): Promise<void>;
}

/**
 * Hands orders to the handler at their own millisecond, in batches: while one batch is in flight the next
 * gathers, so a quiet system handles an order alone and at once, and a burst goes by thousands, two batches at a time.
 * One timer, to the earliest order. A throw puts the whole batch back, with growing waits, for as long as its messages are
 * kept or the broker leaves them to us; after that it delivers them again, to us or to another.
 */
export function handleDue<V>(options: HandleDueOptions<V>): DueHandler {
  const { queue, now, log } = options;
  let timer: NodeJS.Timeout | undefined;
  const lanes = new Set<Promise<void>>();
  let stopped = false;
  let isHeld = false;

  function wake(): void {
    if (stopped || isHeld || lanes.size > 0) return;
    clearTimeout(timer);
    const nextAt = queue.nextDueAt();
    if (nextAt === undefined) return;
    const waitMs = Math.ceil(nextAt - now());
    if (waitMs > 0) {
      timer = setTimeout(wake, Math.min(waitMs, timerMsMax));
      return;
    }
    openLane();
  }

  function openLane(): void {
    const lane = Promise.resolve()
      .then(drain)
      .finally(() => {
        lanes.delete(lane);
        wake();
      });
    lanes.add(lane);
  }

  async function drain(): Promise<void> {
    while (!stopped && !isHeld) {
      const due = queue.takeDue(now(), options.batchMax);
      if (due.length === 0) return;
      const isFull = due.length === options.batchMax;
      // Not beside a smaller one: orders that come one by one would go one by one, at a transaction each.
      if (isFull && lanes.size < batchesMax) openLane();
      const far = due.filter((held) => held.far);
      const near = far.length === 0 ? due : due.filter((held) => !held.far);
      if (near.length > 0) await handleBatch(near);
      if (far.length > 0) await rearmAll(far);
      if (!isFull && lanes.size > 1) return;
    }
  }

  async function handleBatch(batch: HeldOrder<V>[]): Promise<void> {
    let retry: Map<string, number>;
    try {
      const result = await options.handle(batch);
      retry = new Map(result.retry.map(({ orderId, inMs }) => [orderId, inMs]));
    } catch (error) {
      return failed(batch, error, 'a batch of due orders failed and is tried again');
    }
    options.onWorked?.();
    const far: HeldOrder<V>[] = [];
    for (const held of batch) {
      const inMs = retry.get(held.orderId);
      held.failures = 0;
      if (inMs === undefined) finish(held);
      else if (inMs > retryInMemoryMsMax) far.push(held);
      else putBack(held, inMs);
    }
    if (far.length > 0) await rearmAll(far);
  }

  async function rearmAll(far: HeldOrder<V>[]): Promise<void> {
    for (let from = 0; from < far.length; from += ordersPerMessageMax) {
      const chunk = far.slice(from, from + ordersPerMessageMax);
      try {
        await options.rearm(chunk);
      } catch (error) {
        for (const held of chunk) held.far = true;
        failed(chunk, error, 'orders due later could not be armed again; tried again');
        continue;
      }
      options.onWorked?.();
      for (const held of chunk) finish(held);
    }
  }

  function failed(batch: HeldOrder<V>[], error: unknown, what: string): void {
    const failures = Math.max(...batch.map((held) => held.failures)) + 1;
    const fault = options.onFailed?.(error, new Set(batch.flatMap(messagesOf)));
    const inMs = backOffMs(failures, fault === 'away' ? awayBackOffMs : failureBackOffMs);
    log.warn({ reason: messageOf(error), orders: batch.length, failures, inMs }, what);
    // One time for all, so that what failed together is tried together.
    const nowMs = now();
    for (const held of batch) {
      held.failures += 1;
      putBack(held, inMs, nowMs);
    }
  }

  /** Back into memory, unless the broker will have delivered the messages again by then. */
  function putBack(held: HeldOrder<V>, inMs: number, nowMs = now()): void {
    // NaN would spoil the order of the heap, and 0 spin.
    const waitMs = inMs > 0 ? inMs : retryInMemoryMsMin;
    const lookAtMs = performance.now() + waitMs;
    if (messagesOf(held).some((message) => message.isKept || message.holdUntilMs > lookAtMs)) {
      queue.putBack(held, nowMs + waitMs);
    } else {
      queue.forget(held);
    }
  }

  function finish(held: HeldOrder<V>): void {
    for (const message of queue.finish(held)) options.onDone(message);
  }

  return {
    wake,
    async hold() {
      isHeld = true;
      clearTimeout(timer);
      await Promise.all(lanes);
    },
    resume() {
      isHeld = false;
      wake();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await Promise.all(lanes);
    },
  };
}

import { consumerGroupOf, ordersPerMessageMax, type Phase, topicOf } from '@lapse/contracts';
import {
  type Closable,
  type ConsumeConfig,
  type Logger,
  measureCalls,
  observeBatch,
  type Pausable,
  type RocketmqConfig,
  withCrashPoints,
} from '@lapse/runtime';
import type { MessageView } from 'rocketmq-client-nodejs';
import { createAcknowledger } from './acknowledge.ts';
import { closeClient } from './close-client.ts';
import { createPause } from './create-pause.ts';
import { decodeMessage } from './decode-message.ts';
import { waitForDue, waitUntilAborted, waitUntilTime } from './drain.ts';
import { createDueQueue, type DueOrder, type HeldMessage } from './due-queue.ts';
import { handBack } from './hand-back.ts';
import { type HandleResult, handleDue } from './handle-due.ts';
import { createMessageKeeper } from './keep-messages.ts';
import { brokerCalls, messagesAcked, messagesReceived, ordersInHand } from './metrics.ts';
import { awaitMsMin, openConsumer } from './open-consumer.ts';
import { createOutageLog } from './outage-log.ts';
import { parkRefused } from './park-refused.ts';
import type { ParkedMessage } from './parked-message.ts';
import { type CloseLimits, planClose } from './plan-close.ts';
import { receiveMessages } from './receive-loop.ts';
import { messageOf } from './start-client.ts';
import { createStoreTrouble, type StoreFault } from './store-trouble.ts';
import { takeOrders } from './take-orders.ts';
import { traceReceived } from './trace-messages.ts';

/** Taken off the invisible time, so that work and ack still fit in when an order is due last of all. */
const holdMarginMs = 5_000;
/** On close: how long orders that are due shortly are still waited for, rather than handed back. */
const drainMsMax = 3_000;
/**
 * The same on a pause, which nobody is in a hurry for: what is handed back is with another worker some 4 s later, and
 * so before it is due.
 */
const pauseDrainMsMax = 10_000;

const noBody = Buffer.alloc(0);

export interface ConsumeOptions {
  readonly phase: Phase;
  /** Most orders of one call of `handle`. */
  readonly batchMax: number;
  /** How much later than its time an order may be looked at, so that more go together, in ms; 0, unless said. */
  readonly gatherMs?: number;
  /**
   * Handle due orders: one batch at a time, two while they come full. Must be idempotent: an order may come again
   * after it was done.
   * A throw means that nothing is done; the batch comes again.
   */
  readonly handle: (orders: readonly DueOrder[]) => Promise<HandleResult>;
  /** Make durable that these get a message for the time they are due at now. At most `ordersPerMessageMax` a call; idempotent. */
  readonly rearm: (orders: readonly DueOrder[]) => Promise<void>;
  /** Keep a message that cannot be understood, durably. A throw leaves it in the broker. Idempotent by id. */
  readonly park: (message: ParkedMessage) => Promise<void>;
  /**
   * What a failure of the three calls above says of the store. While it is away nothing is received, and what is
   * in hand stays there, its invisible time renewed: an outage uses up no deliveries. By default every failure
   * is the message's own, and after some of them the broker gives up on it.
   */
  readonly judge?: (error: unknown) => StoreFault;
  /** The clock that decides what is due: the database's. UTC ms. */
  readonly now: () => number;
  readonly log: Logger;
}

export interface TimeoutConsumer extends Closable, Pausable {
  /** Orders in memory. */
  inHand(): number;
  /** False from the first failed receive until one works again. */
  isConnected(): boolean;
  stopping(): void;
}

/**
 * Receive timeout messages of one phase, hold each of their orders in memory until it is due, and hand due
 * orders over in batches. A message is acknowledged when all of its orders are done, so a crash loses
 * nothing: the broker delivers it again after `invisibleMs`.
 *
 * `close` drains: it stops asking, waits for the polls in flight (up to `awaitMs`), handles what is due in
 * the next 3 s, and hands the rest back to the broker. It never throws, and is over within `closeTimeoutMs`, so that
 * nothing that the handler uses is closed before it.
 *
 * Paused, it does the same and keeps its client, so that `resume` takes up again at once. No poll is abandoned then
 * either, and so none swallows a message that another worker could have had.
 * @throws LAPSE_CONFIG_INVALID when a close could not be over in that time; LAPSE_TOPIC_MISSING,
 * LAPSE_ROCKETMQ_START when the broker cannot be reached in its time.
 */
export async function consumeTimeouts(
  config: RocketmqConfig & ConsumeConfig & CloseLimits,
  options: ConsumeOptions,
): Promise<TimeoutConsumer> {
  const { phase, log, gatherMs = 0 } = options;
  const topic = topicOf(phase, config.topicPrefix);
  const group = consumerGroupOf(phase, config.topicPrefix);
  const awaitMs = Math.max(awaitMsMin, config.awaitMs);
  const closing = planClose({ ...config, awaitMs });
  const consumer = await openConsumer(config, { topic, group, awaitMs, log });
  const queue = createDueQueue<MessageView>();
  const outage = createOutageLog(log, `receiving from ${topic}`);
  const measured = measureCalls({ ack: (view: MessageView) => consumer.ack(view) }, brokerCalls, {
    ack: 'ack',
  });
  const { ack } = withCrashPoints('broker', measured);
  const acks = createAcknowledger<MessageView>(ack, {
    acked: () => messagesAcked.inc({ phase }),
    failed: (error) => log.debug({ reason: messageOf(error) }, 'an ack failed; the broker delivers again'),
  });
  const trouble = createStoreTrouble();
  const keeper = createMessageKeeper({
    consumer,
    invisibleMs: config.invisibleMs,
    marginMs: holdMarginMs,
    log,
  });
  const stopping = new AbortController();
  const handle: ConsumeOptions['handle'] = (orders) => {
    observeBatch(phase === 1 ? 'remind' : 'close', orders.length);
    return options.handle(orders);
  };
  const due = handleDue({ ...options, handle, queue, onDone, onFailed, onWorked: trouble.worked });

  function onFailed(error: unknown, messages: ReadonlySet<HeldMessage<MessageView>>): StoreFault {
    const fault = options.judge?.(error) ?? 'fault';
    trouble.failed(fault);
    for (const message of messages) fault === 'fault' ? keeper.letGo(message) : keeper.keep(message);
    return fault;
  }

  function onDone(message: HeldMessage<MessageView>): void {
    keeper.letGo(message);
    acks.push(message.view);
    ordersInHand.set({ phase }, queue.size());
  }

  const parking = parkRefused({
    ...{ phase, topic, log, keeper, onFailed, onDone, signal: stopping.signal },
    park: options.park,
    onWorked: trouble.worked,
  });

  function take(view: MessageView, receivedAtMs: number): void {
    messagesReceived.inc({ phase });
    const decoded = decodeMessage(view.body, phase);
    const message: HeldMessage<MessageView> = {
      view,
      holdUntilMs: receivedAtMs + config.invisibleMs - holdMarginMs,
      isKept: false,
      remaining: 0,
    };
    if (decoded.kind === 'refused') {
      parking.add(message, decoded.reason);
      return;
    }
    traceReceived(decoded.message, view);
    // In a burst the bodies would take as much memory as what is kept of their orders.
    (view as { body: Buffer }).body = noBody;
    takeOrders({ queue, message, orders: decoded.message.orders, nowMs: options.now(), gatherMs });
  }

  const receiving = receiveMessages({
    consumer,
    loops: config.receiveLoops,
    invisibleMs: config.invisibleMs,
    ordersHeldMax: config.ordersHeldMax,
    // One that is being parked counts as a full message: while its store is away they must not pile up.
    ordersHeld: () => queue.size() + parking.size() * ordersPerMessageMax,
    isAway: trouble.isAway,
    onMessages(messages, receivedAtMs) {
      for (const view of messages) take(view, receivedAtMs);
      ordersInHand.set({ phase }, queue.size());
      due.wake();
    },
    outage,
  });

  const pause = createPause({
    drain: async (signal) => {
      await waitUntilAborted(receiving.hold(), signal);
      await waitUntilAborted(parking.idle(), signal);
      await waitForDue(queue, options.now, performance.now() + pauseDrainMsMax, signal);
    },
    giveBack: async () => {
      await due.hold();
      const messages = queue.clear();
      for (const message of messages) keeper.letGo(message);
      await acks.idle();
      await handBack(consumer, messages, log);
      ordersInHand.set({ phase }, 0);
    },
    goOn: () => {
      due.resume();
      receiving.resume();
    },
  });

  async function drain(): Promise<void> {
    const startedAtMs = performance.now();
    const pollsEndAtMs = startedAtMs + closing.pollsMs;
    const workEndsAtMs = startedAtMs + closing.workMs;
    const endsAtMs = startedAtMs + closing.handBackMs;
    receiving.stop();
    stopping.abort();
    await waitUntilTime(pause.end(), workEndsAtMs);
    const pollsEnded = await waitUntilTime(receiving.ended, pollsEndAtMs);
    if (!pollsEnded) log.warn('a poll did not come back; what it brings waits for its invisible time');
    await waitUntilTime(parking.idle(), workEndsAtMs);
    await waitForDue(queue, options.now, Math.min(performance.now() + drainMsMax, workEndsAtMs));
    const workEnded = await waitUntilTime(due.stop(), workEndsAtMs);
    if (!workEnded) log.warn('a batch did not end in time; its orders come again');
    keeper.stop();
    await waitUntilTime(acks.idle(), endsAtMs);
    await waitUntilTime(handBack(consumer, queue.messages(), log), endsAtMs);
    await closeClient(consumer, closing.clientMsMax);
    ordersInHand.set({ phase }, 0);
  }
  let closed: Promise<void> | undefined;

  return {
    pause: pause.pause,
    resume: pause.resume,
    isDrained: pause.isDrained,
    inHand: queue.size,
    isConnected: () => !outage.isOut(),
    stopping: receiving.stop,
    close: () => {
      closed ??= drain();
      return closed;
    },
  };
}

import {
  consumerGroupOf,
  ordersPerMessageMax,
  type Phase,
  type TimeoutOrder,
  topicOf,
} from '@lapse/contracts';
import {
  backOffMs,
  type Closable,
  type ConsumeConfig,
  type Logger,
  type RocketmqConfig,
  sleep,
  withCrashPoints,
} from '@lapse/runtime';
import type { MessageView } from 'rocketmq-client-nodejs';
import { createAcknowledger } from './acknowledge.ts';
import { closeClient } from './close-client.ts';
import { decodeMessage } from './decode-message.ts';
import { waitForDue, waitUntilTime } from './drain.ts';
import { createDueQueue, type HeldMessage } from './due-queue.ts';
import { handBack } from './hand-back.ts';
import { type HandleResult, handleDue } from './handle-due.ts';
import { createMessageKeeper } from './keep-messages.ts';
import { messagesAcked, messagesParked, messagesReceived, ordersInHand } from './metrics.ts';
import { awaitMsMin, openConsumer } from './open-consumer.ts';
import { createOutageLog } from './outage-log.ts';
import { type CloseLimits, planClose } from './plan-close.ts';
import { receiveMessages } from './receive-loop.ts';
import { messageOf } from './start-client.ts';
import { createStoreTrouble, type StoreFault } from './store-trouble.ts';
import { takeOrders } from './take-orders.ts';

/** Taken off the invisible time, so that work and ack still fit in when an order is due last of all. */
const holdMarginMs = 5_000;
/** Between two tries to park a message while the store is away. */
const parkBackOffMs = { minMs: 100, maxMs: 5_000 } as const;
/** On close: how long orders that are due shortly are still waited for, rather than handed back. */
const drainMsMax = 3_000;

export interface ParkedMessage {
  readonly messageId: string;
  readonly phase: Phase;
  readonly reason: string;
  readonly body: Buffer;
}

export interface ConsumeOptions {
  readonly phase: Phase;
  /** Most orders of one call of `handle`. */
  readonly batchMax: number;
  /**
   * Handle due orders: one batch at a time, two while they come full. Must be idempotent: an order may come again
   * after it was done.
   * A throw means that nothing is done; the batch comes again.
   */
  readonly handle: (orders: TimeoutOrder[]) => Promise<HandleResult>;
  /** Make durable that these get a message for the time they are due at now. At most 256 a call; idempotent. */
  readonly rearm: (orders: TimeoutOrder[]) => Promise<void>;
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

export interface TimeoutConsumer extends Closable {
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
 * @throws LAPSE_CONFIG_INVALID when a close could not be over in that time; LAPSE_TOPIC_MISSING,
 * LAPSE_ROCKETMQ_START when the broker cannot be reached in its time.
 */
export async function consumeTimeouts(
  config: RocketmqConfig & ConsumeConfig & CloseLimits,
  options: ConsumeOptions,
): Promise<TimeoutConsumer> {
  const { phase, log } = options;
  const topic = topicOf(phase, config.topicPrefix);
  const group = consumerGroupOf(phase, config.topicPrefix);
  const awaitMs = Math.max(awaitMsMin, config.awaitMs);
  const closing = planClose({ ...config, awaitMs });
  const consumer = await openConsumer(config, { topic, group, awaitMs, log });
  const queue = createDueQueue<MessageView>();
  const outage = createOutageLog(log, `receiving from ${topic}`);
  const { ack } = withCrashPoints('broker', { ack: (view: MessageView) => consumer.ack(view) });
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
  const due = handleDue({ ...options, queue, onDone, onFailed, onWorked: trouble.worked });

  function onFailed(error: unknown, messages: ReadonlySet<HeldMessage<MessageView>>): void {
    const fault = options.judge?.(error) ?? 'fault';
    trouble.failed(fault);
    for (const message of messages) fault === 'fault' ? keeper.letGo(message) : keeper.keep(message);
  }

  function onDone(message: HeldMessage<MessageView>): void {
    keeper.letGo(message);
    acks.push(message.view);
    ordersInHand.set({ phase }, queue.size());
  }

  const parking = new Set<Promise<void>>();

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
      const work = parkAndAck(message, decoded.reason).finally(() => parking.delete(work));
      parking.add(work);
      return;
    }
    takeOrders({ queue, message, orders: decoded.message.orders, nowMs: options.now() });
  }

  async function parkAndAck(message: HeldMessage<MessageView>, reason: string): Promise<void> {
    const { messageId, body } = message.view;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await options.park({ messageId, phase, reason, body });
        break;
      } catch (error) {
        onFailed(error, new Set([message]));
        if (message.isKept) await sleep(backOffMs(attempt, parkBackOffMs), stopping.signal);
        if (message.isKept && !stopping.signal.aborted) continue;
        keeper.letGo(message);
        log.warn({ messageId, err: error }, 'a message could not be parked; it comes again');
        return;
      }
    }
    trouble.worked();
    messagesParked.inc({ phase });
    log.error({ messageId, topic, reason }, 'parked a message that cannot be understood');
    onDone(message);
  }

  const receiving = receiveMessages({
    consumer,
    loops: config.receiveLoops,
    invisibleMs: config.invisibleMs,
    ordersHeldMax: config.ordersHeldMax,
    // One that is being parked counts as a full message: while its store is away they must not pile up.
    ordersHeld: () => queue.size() + parking.size * ordersPerMessageMax,
    isPaused: trouble.isAway,
    onMessages(messages, receivedAtMs) {
      for (const view of messages) take(view, receivedAtMs);
      ordersInHand.set({ phase }, queue.size());
      due.wake();
    },
    outage,
  });

  async function drain(): Promise<void> {
    const startedAtMs = performance.now();
    const pollsEndAtMs = startedAtMs + closing.pollsMs;
    const workEndsAtMs = startedAtMs + closing.workMs;
    const endsAtMs = startedAtMs + closing.handBackMs;
    receiving.stop();
    stopping.abort();
    const pollsEnded = await waitUntilTime(receiving.ended, pollsEndAtMs);
    if (!pollsEnded) log.warn('a poll did not come back; what it brings waits for its invisible time');
    await waitUntilTime(Promise.all(parking), workEndsAtMs);
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
    inHand: queue.size,
    isConnected: () => !outage.isOut(),
    stopping: receiving.stop,
    close: () => {
      closed ??= drain();
      return closed;
    },
  };
}

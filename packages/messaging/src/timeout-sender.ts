import { messageBytesMax, type Phase, type TimeoutMessage, topicOf } from '@lapse/contracts';
import {
  backOffMs,
  type Closable,
  type Logger,
  measureCalls,
  type RocketmqConfig,
  sleep,
} from '@lapse/runtime';
import { Producer } from 'rocketmq-client-nodejs';
import { clientOptions } from './client-options.ts';
import { closeClient } from './close-client.ts';
import { MessagingError } from './messaging-error.ts';
import { brokerCalls, messagesSent, sendFailures } from './metrics.ts';
import { queryRoute } from './query-route.ts';

import { askFirst, messageOf, startClient } from './start-client.ts';
import { traceSent } from './trace-messages.ts';

/** The proxy refuses 24 h (40012). A later deadline is chained: delivered, seen not to be due, sent again. */
export const deliverAheadMsMax = 23 * 3_600_000;
/** How long opening waits for the broker before it goes on without. */
const openMsMax = 5_000;
/** One attempt to start a client: three tries to find the route, and the settings. */
const startMsMax = 8_000;
const restartBackOffMs = { minMs: 200, maxMs: 2_000 } as const;

export interface SentMessage {
  readonly messageId: string;
  /** When the broker was asked to deliver it: the time given, or the furthest it can be. */
  readonly deliverAt: number;
}

export interface TimeoutSender extends Closable {
  /**
   * Send one message, to be delivered at `deliverAtMs` (UTC ms; the past means at once). May deliver twice:
   * a send whose answer is lost is sent again.
   * @throws LAPSE_MESSAGE_INVALID for a time or size the broker would misread; LAPSE_SENDER_NOT_CONNECTED
   * at once while the broker was never reached; the client's error after 3 attempts.
   */
  send(message: TimeoutMessage, deliverAtMs: number): Promise<SentMessage>;
  isConnected(): boolean;
  /** Resolves when the proxy answers and serves the topics. */
  ping(): Promise<void>;
}

/**
 * Open the sender of both phases. A broker that is away does not stop the process: orders sell without it,
 * and their outbox rows wait in MySQL. Then this returns after `openMsMax` and connects in the background,
 * for as long as it takes.
 * @throws LAPSE_TOPIC_MISSING when the broker is there and a topic is not.
 */
export async function openTimeoutSender(config: RocketmqConfig, log: Logger): Promise<TimeoutSender> {
  const topics = ([1, 2] as const).map((phase) => topicOf(phase, config.topicPrefix));
  const closing = new AbortController();
  let producer: Producer | undefined;
  let opened = false;

  async function connect(): Promise<void> {
    for (let attempt = 1; !closing.signal.aborted; attempt += 1) {
      try {
        producer = await startProducer(config, topics, log);
        if (attempt > 1) log.info({ attempt }, 'RocketMQ answers: the sender is connected');
        return;
      } catch (error) {
        if (!opened && error instanceof MessagingError && error.code !== 'LAPSE_ROCKETMQ_START') throw error;
        if (attempt === 1)
          log.warn({ reason: messageOf(error) }, 'no RocketMQ yet: orders wait in the outbox');
        else log.debug({ reason: messageOf(error), attempt }, 'the sender is still not connected');
        await sleep(backOffMs(attempt, restartBackOffMs), closing.signal);
      }
    }
  }

  const connecting = connect();
  const waiting = new AbortController();
  await Promise.race([connecting, sleep(openMsMax, waiting.signal)]);
  waiting.abort();
  opened = true;

  function started(): Producer {
    if (producer) return producer;
    throw new MessagingError(
      'LAPSE_SENDER_NOT_CONNECTED',
      'RocketMQ was not reached yet. The order stays in the outbox and is sent later.',
    );
  }

  const sender: TimeoutSender = {
    send: (message, deliverAtMs) => send(started, config.topicPrefix, message, deliverAtMs),
    isConnected: () => producer?.isRunning() ?? false,
    ping: async () => {
      for (const topic of topics) await queryRoute(started(), topic, config.requestTimeoutMs);
    },
    close: async () => {
      closing.abort();
      // A client that is being started cannot be stopped half way; its own time box ends it.
      await connecting;
      if (producer) await closeClient(producer);
    },
  };
  return measureCalls(
    sender,
    brokerCalls,
    { send: 'send' },
    { send: (call, { messageId }, message) => traceSent(message, messageId, call) },
  );
}

/**
 * The client is started with one topic and learns the other at its first send. With two, the broker's
 * settings may arrive while it asks for the second route; it is not listening yet, and waits for ever.
 */
async function startProducer(
  config: RocketmqConfig,
  topics: readonly string[],
  log: Logger,
): Promise<Producer> {
  const [first = '', ...others] = topics;
  const client = new Producer({ ...clientOptions(config, log), topics: [first] });
  await startClient(client, `a sender to ${topics.join(' and ')}`, startMsMax, {
    ...askFirst(client, first, config),
    check: async () => {
      for (const topic of others) await queryRoute(client, topic, config.requestTimeoutMs);
    },
  });
  return client;
}

async function send(
  started: () => Producer,
  topicPrefix: string,
  message: TimeoutMessage,
  deliverAtMs: number,
): Promise<SentMessage> {
  const phase: Phase = message.phase;
  // The broker takes NaN or 0 for "no delay" and delivers ten minutes early without a word.
  if (!Number.isSafeInteger(deliverAtMs) || deliverAtMs <= 0) {
    throw new MessagingError('LAPSE_MESSAGE_INVALID', `deliverAtMs must be a time in ms, not ${deliverAtMs}`);
  }
  const body = Buffer.from(JSON.stringify(message));
  if (body.length > messageBytesMax) {
    throw new MessagingError(
      'LAPSE_MESSAGE_INVALID',
      `a message holds at most ${messageBytesMax} bytes, not ${body.length}: split its orders`,
    );
  }
  const deliverAt = Math.min(deliverAtMs, Date.now() + deliverAheadMsMax);
  try {
    const receipt = await started().send({
      topic: topicOf(phase, topicPrefix),
      body,
      deliveryTimestamp: new Date(deliverAt),
    });
    messagesSent.inc({ phase });
    return { messageId: receipt.messageId, deliverAt };
  } catch (cause) {
    sendFailures.inc({ phase });
    if (cause instanceof MessagingError) throw cause;
    throw new Error(`RocketMQ did not take the message: ${messageOf(cause)}`, { cause });
  }
}

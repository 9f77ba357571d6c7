import { backOffMs, type Logger, type RocketmqConfig, sleep } from '@lapse/runtime';
import { SimpleConsumer } from 'rocketmq-client-nodejs';
import { clientOptions } from './client-options.ts';
import { MessagingError } from './messaging-error.ts';
import { startClient } from './start-client.ts';

/** A missing group never answers, so each attempt has its own end. */
const startMsMax = 8_000;
const attemptsMax = 3;
const restartBackOffMs = { minMs: 500, maxMs: 2_000 } as const;
/** The proxy turns a shorter wait into this one, and refuses it when the request's deadline comes sooner. */
const awaitMsMin = 5_000;

export interface ConsumerOptions {
  readonly topic: string;
  readonly group: string;
  readonly awaitMs: number;
  readonly log: Logger;
}

/**
 * A started SimpleConsumer of one topic. PushConsumer was looked at and left: its cache sleeps, it hands
 * messages back without a wait, and its shutdown may never end.
 * @throws LAPSE_TOPIC_MISSING at once; LAPSE_ROCKETMQ_START after `attemptsMax` attempts.
 */
export async function openConsumer(
  config: RocketmqConfig,
  options: ConsumerOptions,
): Promise<SimpleConsumer> {
  const { topic, group, log } = options;
  for (let attempt = 1; ; attempt += 1) {
    const consumer = new SimpleConsumer({
      ...clientOptions(config, log),
      consumerGroup: group,
      subscriptions: new Map([[topic, '*']]),
      awaitDuration: Math.max(awaitMsMin, options.awaitMs),
      // The library's own retries wait a second and log; our loop backs off by itself.
      maxRetryAttempts: 1,
    });
    try {
      return await startClient(consumer, `group ${group} on topic ${topic}`, startMsMax);
    } catch (error) {
      const again = error instanceof MessagingError && error.code === 'LAPSE_ROCKETMQ_START';
      if (!again || attempt >= attemptsMax) throw error;
      log.warn({ reason: error.message, attempt }, 'RocketMQ is not ready for this consumer; trying again');
      await sleep(backOffMs(attempt, restartBackOffMs));
    }
  }
}

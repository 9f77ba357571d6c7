import { backOffMs, type Logger, type RocketmqConfig, sleep, TimeBoxError } from '@lapse/runtime';
import { SimpleConsumer } from 'rocketmq-client-nodejs';
import { clientOptions } from './client-options.ts';
import { MessagingError } from './messaging-error.ts';
import { askFirst, startClient } from './start-client.ts';

/** One attempt. A group that does not exist is never answered, so this is how that is noticed. */
const startMsMax = 5_000;
/** A proxy that is there but does not answer is tried this often; */
const silentAttemptsMax = 2;
/** one that is away, until this much time is over. */
const openMsMax = 30_000;
const restartBackOffMs = { minMs: 500, maxMs: 2_000 } as const;
/** The proxy turns a shorter wait into this one, and refuses it when the request's deadline comes sooner. */
export const awaitMsMin = 5_000;

export interface ConsumerOptions {
  readonly topic: string;
  readonly group: string;
  readonly awaitMs: number;
  readonly log: Logger;
}

/**
 * A started SimpleConsumer of one topic. PushConsumer was looked at and left: its cache sleeps, it hands
 * messages back without a wait, and its shutdown may never end.
 * @throws LAPSE_TOPIC_MISSING at once; LAPSE_ROCKETMQ_START after some 10 to 30 s.
 */
export async function openConsumer(
  config: RocketmqConfig,
  options: ConsumerOptions,
): Promise<SimpleConsumer> {
  const { topic, group, log } = options;
  const endsAtMs = performance.now() + openMsMax;
  let silent = 0;
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
      const steps = askFirst(consumer, topic, config);
      return await startClient(consumer, `group ${group} on topic ${topic}`, startMsMax, steps);
    } catch (error) {
      if (!(error instanceof MessagingError) || error.code !== 'LAPSE_ROCKETMQ_START') throw error;
      if (error.cause instanceof TimeBoxError) silent += 1;
      if (silent >= silentAttemptsMax || performance.now() >= endsAtMs) throw error;
      log.warn({ reason: error.message, attempt }, 'RocketMQ is not ready for this consumer; trying again');
      await sleep(backOffMs(attempt, restartBackOffMs));
    }
  }
}

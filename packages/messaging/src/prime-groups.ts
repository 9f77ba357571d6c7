import { consumerGroupOf, type Phase, topicOf } from '@lapse/contracts';
import type { Logger, RocketmqConfig } from '@lapse/runtime';
import { closeClient } from './close-client.ts';
import { openConsumer } from './open-consumer.ts';
import { queryRoute } from './query-route.ts';

/** The least that the proxy allows, and long enough: the broker sets a group's offset as it takes the poll. */
const awaitMs = 5_000;
/** What a poll may take from a group that is in use comes back after this; the least the proxy allows. */
const invisibleMs = 10_000;

/**
 * Poll the group of each phase once, so that a new group has a place in every queue before the first order
 * is sold: by itself it would begin behind the newest message. For topics that someone else created;
 * `createTopics` sets the offsets itself. Takes `awaitMs`, and also proves that the groups exist.
 * @throws LAPSE_TOPIC_MISSING, LAPSE_ROCKETMQ_START.
 */
export async function primeGroups(config: RocketmqConfig, log: Logger): Promise<void> {
  await Promise.all(([1, 2] as const).map((phase) => primeGroup(config, phase, log)));
}

async function primeGroup(config: RocketmqConfig, phase: Phase, log: Logger): Promise<void> {
  const topic = topicOf(phase, config.topicPrefix);
  const group = consumerGroupOf(phase, config.topicPrefix);
  const consumer = await openConsumer(config, { topic, group, awaitMs, log });
  try {
    // The client takes the brokers in turn, so as many polls as brokers reach each of them.
    const brokers = await queryRoute(consumer, topic, config.requestTimeoutMs);
    const polls = await Promise.all(brokers.map(() => consumer.receive(1, invisibleMs)));
    for (const view of polls.flat()) await consumer.changeInvisibleDuration(view, 1);
    log.debug({ group, brokers }, 'primed consumer group');
  } finally {
    await closeClient(consumer);
  }
}

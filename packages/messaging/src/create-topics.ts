import { consumerGroupOf, deadLetterGroupOf, deadLetterTopicOf, topicOf } from '@lapse/contracts';
import { type Logger, type RocketmqConfig, sleep } from '@lapse/runtime';
import { Producer } from 'rocketmq-client-nodejs';
import { openBrokerAdmin } from './broker-admin.ts';
import { clientOptions } from './client-options.ts';
import { closeClient } from './close-client.ts';
import { MessagingError } from './messaging-error.ts';
import { queryRoute } from './query-route.ts';
import { messageOf } from './start-client.ts';

/** From the first request to the last topic served: a broker that is starting may use it up. */
const createMsMax = 60_000;
const requestMsMax = 5_000;
const checkEveryMs = 200;
/** A message that was delivered this often again goes to the dead letters of its group. */
const retryMaxTimesDefault = 16;
/**
 * A dead letter that cannot be parked comes again every 30 s: for a year. It must never become a dead letter of
 * the group that reads dead letters, which nobody reads.
 */
const deadLetterRetryMaxTimes = 1_000_000;

export interface TopicLimits {
  /** Deliveries of a message after the first, before it is a dead letter. 16 by default. */
  readonly retryMaxTimes?: number;
}

/**
 * Create the topics and consumer groups of both phases on every master, those of their dead letters included,
 * and wait until they are served.
 * Idempotent: what exists is left as it is, so that an operator's own settings survive. A new group also
 * gets its first offsets; by itself it would begin behind the newest message.
 *
 * It speaks the broker's own protocol: the proxy has no call for this, and the broker's own tool is a Java
 * program that takes 2 s for each call.
 * @throws LAPSE_TOPICS_NAMESRV without a name server's address; LAPSE_TOPICS_REFUSED when the broker says no;
 * LAPSE_TOPICS_TIMEOUT when it does not answer, or does not serve the topics within `createMsMax`.
 */
export async function createTopics(
  config: RocketmqConfig,
  log: Logger,
  { retryMaxTimes = retryMaxTimesDefault }: TopicLimits = {},
): Promise<void> {
  const endsAtMs = performance.now() + createMsMax;
  const admin = openBrokerAdmin(config);
  const masters = await until(endsAtMs, 'a broker to register with the name server', async () => {
    const found = await admin.findMasters();
    return found.length > 0 ? found : undefined;
  });
  const names = ([1, 2] as const).map((phase) => ({
    topic: topicOf(phase, config.topicPrefix),
    group: consumerGroupOf(phase, config.topicPrefix),
    deadTopic: deadLetterTopicOf(phase, config.topicPrefix),
    deadGroup: deadLetterGroupOf(phase, config.topicPrefix),
  }));
  for (const { topic, group, deadTopic, deadGroup } of names) {
    for (const master of masters) {
      const isNewTopic = await admin.createDelayTopic(master, topic);
      const isNewGroup = await admin.createGroup(master, group, retryMaxTimes);
      await admin.setFirstOffsets(master, topic, group);
      await admin.createDeadLetterTopic(master, deadTopic);
      await admin.createGroup(master, deadGroup, deadLetterRetryMaxTimes);
      await admin.setFirstOffsets(master, deadTopic, deadGroup);
      if (isNewTopic || isNewGroup)
        log.info({ topic, group, master }, 'created a topic and its consumer group');
    }
    await until(endsAtMs, `the name server to serve topic ${topic}`, () => admin.isRouted(topic));
  }
  // Only now: a proxy that is asked too early remembers "no such topic" for 20 s.
  const client = new Producer(clientOptions(config, log));
  try {
    for (const { topic } of names) {
      await until(endsAtMs, `the proxy at ${config.endpoints} to serve topic ${topic}`, () =>
        queryRoute(client, topic, requestMsMax),
      );
    }
  } finally {
    await closeClient(client);
  }
}

/** Ask until the answer is truthy. A refusal or a missing setting will not change, so it ends the wait. */
async function until<T>(endsAtMs: number, what: string, ask: () => Promise<T>): Promise<NonNullable<T>> {
  let last: unknown;
  while (performance.now() < endsAtMs) {
    try {
      const answer = await ask();
      if (answer) return answer;
    } catch (error) {
      if (error instanceof MessagingError && error.code !== 'LAPSE_TOPICS_TIMEOUT') throw error;
      last = error;
    }
    await sleep(checkEveryMs);
  }
  const why = last === undefined ? '' : ` The last answer: ${messageOf(last)}`;
  throw new MessagingError('LAPSE_TOPICS_TIMEOUT', `Waited in vain for ${what}.${why}`, { cause: last });
}

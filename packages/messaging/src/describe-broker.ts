import { consumerGroupOf, deadLetterGroupOf, deadLetterTopicOf, type Phase, topicOf } from '@lapse/contracts';
import type { Logger, RocketmqConfig } from '@lapse/runtime';
import { Producer } from 'rocketmq-client-nodejs';
import { openBrokerAdmin } from './broker-admin.ts';
import { clientOptions } from './client-options.ts';
import { closeClient } from './close-client.ts';
import { queryRoute } from './query-route.ts';
import { messageOf } from './start-client.ts';

/** A topic of ours on one master, as the broker itself has it. */
export interface BrokerTopic {
  readonly master: string;
  readonly phase: Phase;
  readonly topic: string;
  /** Null: it is not there. Anything but DELAY delivers at once, ten minutes early. */
  readonly type: string | null;
  readonly group: string;
  readonly hasGroup: boolean;
  /** Delivered to the group's queue, and not acknowledged yet. Messages whose time has not come do not count. */
  readonly unread: number;
  /** Given up by the broker, and not moved into the table `parked` yet. */
  readonly dead: number;
}

export interface BrokerState {
  /** By the name server; null without its address. */
  readonly topics: readonly BrokerTopic[] | null;
  /** Of each topic, whether the proxy serves it to clients; what it says if not. */
  readonly routes: readonly { readonly topic: string; readonly fault: string | null }[];
}

const phases = [1, 2] as const;

/**
 * Describe what the workers need of RocketMQ. Starts no client, so that it takes milliseconds. Makes no topic; a broker
 * with RocketMQ's own settings makes the group that it is asked about.
 * @throws LAPSE_TOPICS_TIMEOUT when the name server or a broker does not answer.
 */
export async function describeBroker(config: RocketmqConfig, log: Logger): Promise<BrokerState> {
  const routes = await describeRoutes(config, log);
  if (config.namesrv === undefined) return { topics: null, routes };
  const admin = openBrokerAdmin(config);
  const topics: BrokerTopic[] = [];
  for (const master of await admin.findMasters()) {
    for (const phase of phases) {
      const topic = topicOf(phase, config.topicPrefix);
      const group = consumerGroupOf(phase, config.topicPrefix);
      const deadTopic = deadLetterTopicOf(phase, config.topicPrefix);
      const deadGroup = deadLetterGroupOf(phase, config.topicPrefix);
      topics.push({
        master,
        phase,
        topic,
        type: await admin.readTopicType(master, topic),
        group,
        hasGroup: await admin.hasGroup(master, group),
        unread: await admin.countUnread(master, topic, group),
        dead: await admin.countUnread(master, deadTopic, deadGroup),
      });
    }
  }
  return { topics, routes };
}

async function describeRoutes(config: RocketmqConfig, log: Logger): Promise<BrokerState['routes']> {
  const client = new Producer(clientOptions(config, log));
  try {
    const topics = phases.map((phase) => topicOf(phase, config.topicPrefix));
    const faults: { topic: string; fault: string | null }[] = [];
    for (const topic of topics) {
      const fault = await queryRoute(client, topic, config.requestTimeoutMs).then(() => null, messageOf);
      faults.push({ topic, fault });
    }
    return faults;
  } finally {
    await closeClient(client);
  }
}

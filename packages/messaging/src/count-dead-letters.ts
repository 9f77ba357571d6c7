import { deadLetterGroupOf, deadLetterTopicOf } from '@lapse/contracts';
import type { RocketmqConfig } from '@lapse/runtime';
import { openBrokerAdmin } from './broker-admin.ts';

/**
 * How many dead letters of both phases wait in the broker, on all masters. For the oracle and for whoever watches:
 * one that a sweeper has taken and not acknowledged is missing here until its invisible time is over.
 * @throws LAPSE_TOPICS_NAMESRV, LAPSE_TOPICS_TIMEOUT.
 */
export async function countDeadLetters(config: RocketmqConfig): Promise<number> {
  const admin = openBrokerAdmin(config);
  let total = 0;
  for (const master of await admin.findMasters()) {
    for (const phase of [1, 2] as const) {
      const group = deadLetterGroupOf(phase, config.topicPrefix);
      const topic = deadLetterTopicOf(phase, config.topicPrefix);
      // What was taken and never acknowledged comes again from a topic that the broker makes for it.
      for (const name of [topic, `%RETRY%${group}_${topic}`]) {
        total += await admin.countUnread(master, name, group);
      }
    }
  }
  return total;
}

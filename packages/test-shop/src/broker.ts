import { createTopics, openTimeoutSender, type TimeoutSender, type TopicLimits } from '@lapse/messaging';
import type { ConsumeConfig, ProcessConfig, RocketmqConfig } from '@lapse/runtime';
import { testRocketmq, testTopicPrefix } from '@lapse/testing';
import { log } from './shop.ts';

export const consume: ConsumeConfig & Pick<ProcessConfig, 'closeTimeoutMs' | 'shutdownTimeoutMs'> = {
  receiveLoops: 2,
  awaitMs: 5_000,
  invisibleMs: 30_000,
  ordersHeldMax: 100_000,
  closeTimeoutMs: 10_000,
  shutdownTimeoutMs: 15_000,
};
export const relay = { gatherMs: 50, dueWindowMs: 1_000, closeLeadMs: 1_500 };

export interface TestBroker {
  readonly config: RocketmqConfig;
  readonly sender: TimeoutSender;
  /** The same as variables, for a process. */
  readonly env: Record<string, string>;
}

/** Topics and groups of this test file alone on the real broker, and a sender to them. */
export async function openBroker(limits: TopicLimits = {}): Promise<TestBroker> {
  const { endpoints, namesrv } = testRocketmq();
  const topicPrefix = testTopicPrefix();
  const config = { endpoints, namesrv, topicPrefix, tls: false, requestTimeoutMs: 3_000 } as RocketmqConfig;
  await createTopics(config, log, limits);
  return {
    config,
    sender: await openTimeoutSender(config, log),
    env: { LAPSE_ROCKETMQ_ENDPOINTS: endpoints, LAPSE_ROCKETMQ_TOPIC_PREFIX: topicPrefix },
  };
}

import type { Logger, RocketmqConfig } from '@lapse/runtime';

export type TopicsConfig = RocketmqConfig;

export async function createTopics(_config: TopicsConfig, _log: Logger): Promise<void> {
  throw new Error('soon');
}

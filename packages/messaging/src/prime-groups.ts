import type { Logger, RocketmqConfig } from '@lapse/runtime';

export async function primeGroups(_config: RocketmqConfig, _log: Logger): Promise<void> {
  throw new Error('soon');
}

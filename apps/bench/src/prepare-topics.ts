import { createTopics } from '@lapse/messaging';
import { readConfig } from '@lapse/runtime';
import { lapseEnvironment } from './lapse-environment.ts';
import { quietLog } from './quiet-log.ts';
import type { Sale } from './sale.ts';

/** Topics and groups of one run alone. */
export async function prepareTopics(sale: Sale): Promise<void> {
  const environment = { ...lapseEnvironment(sale), LAPSE_ROCKETMQ_NAMESRV: sale.rocketmqNamesrv };
  await createTopics(readConfig(environment, ['rocketmq']).rocketmq, quietLog);
}

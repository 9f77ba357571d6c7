import type { Sale } from './sale.ts';

/** What a process of Lapse gets: where the stores are. Everything else is its default. */
export function lapseEnvironment(sale: Sale): Record<string, string> {
  return {
    LAPSE_MYSQL_URL: sale.mysqlUrl,
    LAPSE_REDIS_URL: sale.redisUrl,
    LAPSE_ROCKETMQ_ENDPOINTS: sale.rocketmqEndpoints,
    LAPSE_ROCKETMQ_TOPIC_PREFIX: sale.topicPrefix,
  };
}

import { fileURLToPath } from 'node:url';
import { consumerGroupOf, topicOf } from '@lapse/contracts';
import { sendTimeouts } from '../../burst/send-timeouts.ts';
import type { CloseContender } from '../contender.ts';

const seedMain = fileURLToPath(new URL('../../../../../packages/seed-worker/dist/main.js', import.meta.url));

/** The worker that everybody writes first, as written: one message, one order, one transaction after the other. */
export const seed: CloseContender = {
  name: 'seed',
  about:
    'packages/seed-worker: one message an order through RocketMQ, one transaction an order, one after the other',
  judgedBy: 'counts',
  ordersMax: 1_000,
  queue: 'rocketmq',
  armMs: (orders) => 1_000 + orders * 4,
  arm: (sale, dueAtMs) =>
    sendTimeouts(sale, dueAtMs, { phase: 2, ordersPerMessage: 1, leadMs: 0, sendsAtOnce: 64 }),
  programs: (sale) => [
    {
      name: 'worker',
      file: seedMain,
      env: {
        SEED_MYSQL_URL: sale.mysqlUrl,
        SEED_REDIS_URL: sale.redisUrl,
        SEED_ENDPOINTS: sale.rocketmqEndpoints,
        SEED_TOPIC: topicOf(2, sale.topicPrefix),
        SEED_GROUP: consumerGroupOf(2, sale.topicPrefix),
      },
      readyText: 'started',
    },
  ],
};

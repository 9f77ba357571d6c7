import { ordersPerMessageMax } from '@lapse/contracts';
import { appProgram } from '../app-program.ts';
import type { BurstContender } from '../burst/contender.ts';
import { sendMsMax, sendTimeouts } from '../burst/send-timeouts.ts';
import { limit } from './limit.ts';

/** As the relay sends them: a reminder has no lead. */
const manner = { phase: 1, ordersPerMessage: ordersPerMessageMax, leadMs: 0, sendsAtOnce: 8 } as const;

/** The reminder as it is deployed, on messages as the producer sends them. */
export const lapse: BurstContender = {
  name: 'lapse',
  about: `apps/reminder, one process, default settings, notices to the log; messages of ${ordersPerMessageMax} orders through RocketMQ`,
  judgedBy: 'oracle',
  ordersMax: Number.POSITIVE_INFINITY,
  queue: 'rocketmq',
  armMs: (orders) => sendMsMax(orders, ordersPerMessageMax),
  arm: (sale, dueAtMs) => sendTimeouts(sale, dueAtMs, manner),
  programs: (sale) => [appProgram('reminder', sale, 'worker')],
};

/** In the order in which they run. */
export const remindContenders: readonly BurstContender[] = [limit, lapse];

import { ordersPerMessageMax } from '@lapse/contracts';
import { appProgram } from '../../app-program.ts';
import { sendMsMax, sendTimeouts } from '../../burst/send-timeouts.ts';
import type { CloseContender } from '../contender.ts';

/** As the relay sends them. */
const manner = { phase: 2, ordersPerMessage: ordersPerMessageMax, leadMs: 1_500, sendsAtOnce: 8 } as const;

/** The closer as it is deployed, on messages as the reminder sends them. */
export const lapse: CloseContender = {
  name: 'lapse',
  about: `apps/closer, one process, default settings; messages of ${ordersPerMessageMax} orders through RocketMQ`,
  judgedBy: 'oracle',
  ordersMax: Number.POSITIVE_INFINITY,
  queue: 'rocketmq',
  armMs: (orders) => sendMsMax(orders, ordersPerMessageMax),
  arm: (sale, dueAtMs) => sendTimeouts(sale, dueAtMs, manner),
  programs: (sale) => [appProgram('closer', sale, 'worker')],
};

import { openOrderRepository } from '@lapse/order-repository';
import { openPaymentProvider } from '@lapse/payments';
import { registerWorker, repeat, serveOps, startProcess, withCrashPoints } from '@lapse/runtime';
import { openStock } from '@lapse/stock';
import { applyWaitingPayments } from './apply-waiting-payments.ts';
import { openCloseLane } from './open-close-lane.ts';
import { payRefunds } from './pay-refunds.ts';
import { reportBacklog } from './report-backlog.ts';
import { settleAttempts } from './settle-attempts.ts';

const groups = ['process', 'ops', 'mysql', 'redis', 'worker', 'payment', 'settler', 'shop'] as const;

/** Payments at the provider: settles attempts, applies kept payments, pays refunds. This file only wires. */
await startProcess('settler', groups, async ({ config, log, own }) => {
  // Opened first, so stopped last: probes and metrics stay up while the rest drains.
  const ops = own(await serveOps(config.ops, log));
  const shopEvents = config.shop.webhookUrl !== undefined;
  const orders = withCrashPoints(
    'orders',
    own(await openOrderRepository({ ...config.mysql, shopEvents }, log)),
  );
  const worker = own(registerWorker({ kind: 'settler', ...config.worker, store: orders, log }));
  const stock = withCrashPoints('stock', own(await openStock(config.redis, log)));
  const opened = await openPaymentProvider(config.payment, log);
  const provider = opened && withCrashPoints('provider', own(opened));
  const lane = own(openCloseLane({ orders, stock, log }));
  worker.awaits(lane);
  ops.addCheck('mysql', () => orders.ping());
  ops.addCheck('redis', () => stock.ping());

  const { everyMs } = config.settler;
  // Deadlines are kept to half a second; money that goes back, or came before its order, can wait for a second.
  const seldomMs = 2 * everyMs;
  const parts = { orders, stock, log, config: { ...config.settler, timeoutMs: config.payment.timeoutMs } };
  // Loops of their own: what waits for the provider in one of them delays none of the others.
  const start = (name: string, everyMs: number, task: (signal: AbortSignal) => Promise<void>): void => {
    worker.controls(own(repeat({ name, everyMs, task, log })));
  };
  start('apply-waiting-payments', seldomMs, applyWaitingPayments(parts));
  let waiting = 0;
  worker.measures(() => ({ waiting }));
  const counted = (count: number): void => {
    waiting = count;
  };
  // Not paused with the rest: it only reads, and figures that stand still would be believed.
  const report = reportBacklog({ ...parts, provider, counted });
  own(repeat({ name: 'report-backlog', everyMs: config.settler.reportEveryMs, task: report, log }));
  if (provider) {
    start('pay-refunds', seldomMs, payRefunds({ ...parts, provider }));
    start('settle-attempts', everyMs, settleAttempts({ ...parts, provider, closeOrder: lane.closeOrder }));
  } else {
    log.warn({}, 'no payment provider is set up: attempts are not settled and refunds not paid');
  }
  ops.setReady(true);
});

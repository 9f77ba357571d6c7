import { drainDeadLetters, openTimeoutSender } from '@lapse/messaging';
import { openOrderRepository } from '@lapse/order-repository';
import { registerWorker, repeat, serveOps, startProcess, withCrashPoints } from '@lapse/runtime';
import { openStock } from '@lapse/stock';
import { applyLeftEffects } from './apply-left-effects.ts';
import { archiveFinished } from './archive-finished.ts';
import { archiveSales } from './archive-sales.ts';
import { auditStock } from './audit-stock.ts';
import { closeOverdue } from './close-overdue.ts';
import { expireKeys } from './expire-keys.ts';
import { keepSender } from './keep-sender.ts';
import { loadStock } from './load-stock.ts';
import { parkDeadLetters } from './park-dead-letters.ts';
import { releaseOrphans } from './release-orphans.ts';
import { reportState } from './report-state.ts';
import { resendOutbox } from './resend-outbox.ts';
import { showLimits } from './show-limits.ts';
import { sweepReminders } from './sweep-reminders.ts';

const groups = [
  'process',
  'ops',
  'mysql',
  'redis',
  'rocketmq',
  'worker',
  'relay',
  'sweeper',
  'shop',
] as const;

/** How long the marker of a released order refuses a reserve that comes late. */
const markersKeptMs = 3_600_000;

/** Ten minutes between two comparisons of every order, at the default LAPSE_AUDIT_EVERY. */
const audit = { auditSecondLookMs: 5_000, auditBudgetMs: 20_000, auditEveryOrderRuns: 20 };

/** Keys live for 24 hours: a minute more is nothing. */
const expireKeysEveryMs = 60_000;

/** The safety net: closes, resends and repairs what messages missed. This file only wires. */
await startProcess('sweeper', groups, async ({ config, log, own }) => {
  // Opened first, so stopped last: probes and metrics stay up while the rest drains.
  const ops = own(await serveOps(config.ops, log));
  const shopEvents = config.shop.webhookUrl !== undefined;
  const orders = withCrashPoints(
    'orders',
    own(await openOrderRepository({ ...config.mysql, shopEvents }, log)),
  );
  const worker = own(registerWorker({ kind: 'sweeper', ...config.worker, store: orders, log }));
  const stock = withCrashPoints('stock', own(await openStock(config.redis, log)));
  const sender = own(
    keepSender(async () => withCrashPoints('sender', await openTimeoutSender(config.rocketmq, log))),
  );
  const letters = own(
    drainDeadLetters(config.rocketmq, { phases: [1, 2], park: orders.parkDeadLetter, log }),
  );
  ops.addCheck('mysql', () => orders.ping());
  ops.addCheck('redis', () => stock.ping());
  ops.addCheck('broker', () => sender.ping());

  const parts = {
    orders,
    stock,
    log,
    config: { ...config.sweeper, ...config.relay, ...audit, markersKeptMs },
  };
  const {
    everyMs: sweepEveryMs,
    repairEveryMs,
    auditEveryMs,
    orphansEveryMs,
    deadLettersEveryMs,
    reportEveryMs,
    retainEveryMs,
  } = config.sweeper;
  const start = (name: string, everyMs: number, task: (signal: AbortSignal) => Promise<unknown>): void => {
    worker.controls(own(repeat({ name, everyMs, task: async (signal) => void (await task(signal)), log })));
  };
  start('close-overdue', sweepEveryMs, closeOverdue(parts));
  start('sweep-reminders', sweepEveryMs, sweepReminders(parts));
  start('resend-outbox', repairEveryMs, resendOutbox({ ...parts, takeSender: sender.take }));
  start('apply-left-effects', repairEveryMs, applyLeftEffects(parts));
  start('load-stock', repairEveryMs, loadStock(parts));
  start('audit-stock', auditEveryMs, auditStock(parts));
  start('release-orphans', orphansEveryMs, releaseOrphans(parts));
  start('expire-keys', expireKeysEveryMs, expireKeys(parts));
  start('archive-finished', retainEveryMs, archiveFinished(parts));
  start('archive-sales', retainEveryMs, archiveSales(parts));
  start('park-dead-letters', deadLettersEveryMs, parkDeadLetters({ orders, drain: letters.drain }));
  // Not paused with the rest: it only reads, and figures that stand still would be believed.
  const report = reportState(parts);
  own(repeat({ name: 'report-state', everyMs: reportEveryMs, task: report, log }));
  showLimits(config.sweeper);
  ops.setReady(true);
});

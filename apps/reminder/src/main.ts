import { consumeTimeouts, openRelay, openTimeoutSender } from '@lapse/messaging';
import { openNotifier, openShopChannel } from '@lapse/notifications';
import { rearmOrders } from '@lapse/order-flow';
import { judgeStoreFault, openOrderRepository } from '@lapse/order-repository';
import { registerWorker, repeat, serveOps, startProcess, withCrashPoints } from '@lapse/runtime';
import { deliverNotices } from './deliver-notices.ts';
import { deliverShopEvents } from './deliver-shop-events.ts';
import { remindLateness } from './metrics.ts';
import { remindBuyers } from './remind-buyers.ts';

const groups = [
  'process',
  'ops',
  'mysql',
  'rocketmq',
  'worker',
  'relay',
  'consume',
  'reminder',
  'notify',
  'shop',
  'webhook',
] as const;

/** Phase 1: reminds buyers of unpaid orders, and sends the closing message. This file only wires. */
await startProcess('reminder', groups, async ({ config, log, own }) => {
  // Opened first, so stopped last: probes and metrics stay up while the rest drains.
  const ops = own(await serveOps(config.ops, log));
  const shopEvents = config.shop.webhookUrl !== undefined;
  const orders = withCrashPoints(
    'orders',
    own(await openOrderRepository({ ...config.mysql, shopEvents }, log)),
  );
  const worker = own(registerWorker({ kind: 'reminder', ...config.worker, store: orders, log }));
  const sender = withCrashPoints('sender', own(await openTimeoutSender(config.rocketmq, log)));
  const relay = own(openRelay({ ...config.relay, sender, markSent: orders.markOutboxSent, log }));
  const notifier = withCrashPoints('notifier', own(await openNotifier(config.notify, config.webhook, log)));
  const deliver = deliverNotices({ orders, notifier, config: config.notify, log });
  const delivery = own(
    repeat({ name: 'deliver-notices', everyMs: config.notify.everyMs, task: deliver, log }),
  );
  worker.controls(delivery);
  const shop = await openShopChannel(config.shop, config.webhook);
  if (shop) {
    const channel = withCrashPoints('shop', own(shop));
    const task = deliverShopEvents({ orders, channel, config: config.shop, log });
    worker.controls(own(repeat({ name: 'deliver-shop-events', everyMs: config.shop.everyMs, task, log })));
  }
  ops.addCheck('mysql', () => orders.ping());
  // Opened last, so stopped first: it closes once no message is in hand.
  const consumer = own(
    await consumeTimeouts(
      { ...config.rocketmq, ...config.consume, ...config.process },
      {
        phase: 1,
        batchMax: config.reminder.batchMax,
        gatherMs: config.reminder.gatherMs,
        handle: remindBuyers({ orders, relay, noticesWait: delivery.wake, log }),
        rearm: rearmOrders({ phase: 1, orders, relay, log }),
        park: orders.parkMessage,
        judge: judgeStoreFault,
        now: orders.now,
        log,
      },
    ),
  );
  worker.controls(consumer);
  worker.awaits(relay);
  worker.measures(() => ({ inHand: consumer.inHand(), ...remindLateness.figures() }));
  ops.addCheck('broker', async () => {
    if (!consumer.isConnected()) throw new Error('messages cannot be received');
    await sender.ping();
  });
  ops.setReady(true);
});

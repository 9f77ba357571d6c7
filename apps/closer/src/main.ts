import { consumeTimeouts, openRelay, openTimeoutSender } from '@lapse/messaging';
import { rearmOrders } from '@lapse/order-flow';
import { judgeStoreFault, openOrderRepository } from '@lapse/order-repository';
import { registerWorker, serveOps, startProcess, withCrashPoints } from '@lapse/runtime';
import { openStock } from '@lapse/stock';
import { closeOrders } from './close-orders.ts';
import { closeLateness } from './metrics.ts';
import { openReleaseLane } from './open-release-lane.ts';

const groups = [
  'process',
  'ops',
  'mysql',
  'redis',
  'rocketmq',
  'worker',
  'relay',
  'consume',
  'closer',
  'shop',
] as const;

/** Phase 2: closes orders past their deadline and returns their stock. This file only wires. */
await startProcess('closer', groups, async ({ config, log, own }) => {
  // Opened first, so stopped last: probes and metrics stay up while the rest drains.
  const ops = own(await serveOps(config.ops, log));
  const shopEvents = config.shop.webhookUrl !== undefined;
  const orders = withCrashPoints(
    'orders',
    own(await openOrderRepository({ ...config.mysql, shopEvents }, log)),
  );
  const worker = own(registerWorker({ kind: 'closer', ...config.worker, store: orders, log }));
  const stock = withCrashPoints('stock', own(await openStock(config.redis, log)));
  const sender = withCrashPoints('sender', own(await openTimeoutSender(config.rocketmq, log)));
  const relay = own(openRelay({ ...config.relay, sender, markSent: orders.markOutboxSent, log }));
  const lane = own(openReleaseLane({ stock, orders, log }));
  ops.addCheck('mysql', () => orders.ping());
  ops.addCheck('redis', () => stock.ping());
  // Opened last, so stopped first: it closes once no message is in hand.
  const consumer = own(
    await consumeTimeouts(
      { ...config.rocketmq, ...config.consume, ...config.process },
      {
        phase: 2,
        batchMax: config.closer.batchMax,
        handle: closeOrders({ orders, releaseStock: lane.release, log }),
        rearm: rearmOrders({ phase: 2, orders, relay, log }),
        park: orders.parkMessage,
        judge: judgeStoreFault,
        now: orders.now,
        log,
      },
    ),
  );
  worker.controls(consumer);
  for (const beside of [lane, relay]) worker.awaits(beside);
  worker.measures(() => ({ inHand: consumer.inHand(), ...closeLateness.figures() }));
  ops.addCheck('broker', async () => {
    if (!consumer.isConnected()) throw new Error('messages cannot be received');
    await sender.ping();
  });
  ops.setReady(true);
});

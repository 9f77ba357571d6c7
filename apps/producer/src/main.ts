/** The HTTP API. This file only wires. */
import { openRelay, openTimeoutSender } from '@lapse/messaging';
import { openOrderRepository } from '@lapse/order-repository';
import { openPaymentProvider, openWebhookCheck } from '@lapse/payments';
import { openRateLimits } from '@lapse/rate-limits';
import { registerWorker, serveOps, startProcess, withCrashPoints } from '@lapse/runtime';
import { openStock } from '@lapse/stock';
import { buildApp } from './app.ts';
import { openAuthenticator } from './authenticate.ts';
import { openCreatePorts } from './create-ports.ts';
import { createSaleGate } from './sale-gate.ts';
import { serveApi } from './serve-api.ts';

const groups = [
  'process',
  'ops',
  'mysql',
  'redis',
  'rocketmq',
  'worker',
  'http',
  'auth',
  'limits',
  'payment',
  'create',
  'relay',
  'shop',
] as const;

await startProcess('producer', groups, async ({ config, log, own }) => {
  // Opened first, so closed last: probes and metrics stay up while the rest drains.
  const ops = own(await serveOps(config.ops, log), 'ops');
  const shopEvents = config.shop.webhookUrl !== undefined;
  const orders = withCrashPoints(
    'orders',
    own(await openOrderRepository({ ...config.mysql, shopEvents }, log), 'mysql'),
  );
  const worker = own(registerWorker({ kind: 'producer', ...config.worker, store: orders, log }), 'heartbeat');
  const stock = withCrashPoints('stock', own(await openStock(config.redis, log), 'redis'));
  const sender = withCrashPoints('sender', own(await openTimeoutSender(config.rocketmq, log), 'rocketmq'));
  const markSent = orders.markOutboxSent;
  const relay = own(openRelay({ ...config.relay, sender, markSent, log }), 'relay');
  const create = own(openCreatePorts({ orders, stock, relay, limits: config.create, log }), 'create queue');
  const limits = own(openRateLimits({ ...config.redis, ...config.limits }, log), 'rate limits');
  const opened = await openPaymentProvider(config.payment, log);
  const provider = opened && withCrashPoints('provider', own(opened, 'payment provider'));
  const gate = worker.controls(createSaleGate());
  worker.awaits(relay);
  worker.measures(() => ({ inHand: gate.inHand(), waiting: create.inserts.size() }));
  const app = await buildApp({
    orders,
    stock,
    create,
    gate,
    relay,
    authenticate: openAuthenticator(config.auth),
    payments: { provider, verifyWebhook: openWebhookCheck(config.payment, provider) },
    ...config.http,
    limits,
    log,
  });
  // Opened last, so closed first: requests in flight finish while everything they use is still there.
  own(await serveApi(app, config.http, log), 'http');
  ops.addCheck('mysql', orders.ping);
  ops.addCheck('sale', async () => {
    if (!gate.isOpen()) throw new Error('paused by an operator: new orders are refused');
  });
  // Never reached, the process is not set up right and takes no traffic. Lost later, they stop no more than new orders
  // (Redis), or nothing: orders wait in the outbox (the broker), and payments, cancels and reads need MySQL alone.
  ops.addCheck('redis', stock.ping, { counts: 'until-passed' });
  ops.addCheck('rocketmq', sender.ping, { counts: 'until-passed' });
  ops.setReady(true);
});

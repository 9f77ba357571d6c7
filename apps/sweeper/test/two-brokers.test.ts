import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRocketmqCluster } from '@lapse/local-services';
import { consumeTimeouts, createTopics, openTimeoutSender } from '@lapse/messaging';
import { judgeStoreFault } from '@lapse/order-repository';
import type { RocketmqConfig } from '@lapse/runtime';
import { consume, log, openActivity, openShop, placeOrders, readStock } from '@lapse/test-shop';
import { checkInvariants, waitUntil } from '@lapse/testing';
import { expect, test } from 'vitest';
import { closeOverdue } from '../src/close-overdue.ts';

const ordersMax = 80;
/** Long enough to send them all and to lose a master before the first is due, on a busy machine. */
const expireInMs = 12_000;
const graceMs = 3_000;
const signal = new AbortController().signal;

test('one of two masters killed with orders pending costs no order: the sweep closes what its messages cannot', {
  timeout: 240_000,
}, async ({ onTestFinished }) => {
  const dir = await mkdtemp(join(tmpdir(), 'lapse-two-brokers-'));
  const cluster = await startRocketmqCluster({ dir, log: () => undefined });
  const shop = await openShop();
  const { endpoints, namesrv } = cluster;
  const config = {
    endpoints,
    namesrv,
    topicPrefix: '',
    tls: false,
    requestTimeoutMs: 3_000,
  } as RocketmqConfig;
  await createTopics(config, log);
  const sender = await openTimeoutSender(config, log);
  const closer = await consumeTimeouts(
    { ...config, ...consume },
    {
      phase: 2,
      batchMax: 500,
      handle: async (due) => {
        const { contended } = await shop.orders.closeExpired(
          due.map(({ orderId }) => orderId),
          { cause: 'message' },
        );
        return { retry: contended.map((orderId) => ({ orderId, inMs: 30 })) };
      },
      rearm: async () => undefined,
      park: shop.orders.parkMessage,
      judge: judgeStoreFault,
      now: shop.orders.now,
      log,
    },
  );
  onTestFinished(async () => {
    await Promise.all([closer.close(), sender.close()]);
    // Nothing of it is kept, and a clean stop takes a broker some 15 s.
    cluster.kill('SIGKILL');
    await cluster.close();
    await shop.close();
    await rm(dir, { recursive: true, force: true });
  });

  const activity = await openActivity(shop, ordersMax);
  const { ids, closeDue } = await placeOrders(shop, activity, ordersMax, { remindInMs: 1, expireInMs });
  await shop.orders.remindPending(ids);
  // A message each, so that both masters have some.
  await Promise.all(
    closeDue.map((order) =>
      sender.send({ version: 1, phase: 2, dueTime: order.dueTime, orders: [order] }, order.dueTime - 1_500),
    ),
  );
  cluster.kill('SIGKILL', 'broker-b');
  const sweep = closeOverdue({
    orders: shop.orders,
    stock: shop.stock,
    log,
    config: { graceMs, batchMax: 500, budgetMs: 8_000 },
  });
  const countPending = () => shop.count("SELECT COUNT(*) FROM orders WHERE status = 'PENDING'");
  const isPast = async () =>
    (await shop.count('SELECT MAX(expires_at) < NOW(3) - INTERVAL 2 SECOND FROM orders')) === 1;
  await waitUntil(isPast, { what: 'every deadline to be 2 s ago', timeoutMs: 40_000 });
  // Control: without the sweep, what the dead master holds would stay pending.
  expect(await countPending()).toBeGreaterThan(0);
  await waitUntil(
    async () => {
      await sweep(signal);
      return (await countPending()) === 0;
    },
    { what: 'every order to close', timeoutMs: 60_000, everyMs: 500 },
  );

  const rows = await shop.query(
    `SELECT t.cause, COUNT(*) AS n, MAX(TIMESTAMPDIFF(MICROSECOND, o.expires_at, o.closed_at)) DIV 1000 AS late
     FROM order_transition t JOIN orders o ON o.id = t.order_id WHERE t.credit > 0 GROUP BY t.cause`,
  );
  const closed = new Map(
    rows.map(({ cause, n, late }) => [String(cause), { n: Number(n), late: Number(late) }]),
  );
  const [byMessage, bySweep] = [closed.get('message'), closed.get('sweep')];
  process.stdout.write(
    `one of two masters killed: ${byMessage?.n} orders closed by message, at most ${byMessage?.late} ms late; ` +
      `${bySweep?.n} by the sweep, at most ${bySweep?.late} ms late (grace ${graceMs} ms)\n`,
  );
  expect((byMessage?.n ?? 0) + (bySweep?.n ?? 0)).toBe(ordersMax);
  // Both masters had messages, and the one that lives delivered its own. Without the sweep these would be lost.
  expect(byMessage?.n).toBeGreaterThan(0);
  expect(bySweep?.n).toBeGreaterThan(0);
  expect((await readStock(shop, activity.id)).mysql).toBe(ordersMax);
  const verdict = await checkInvariants({
    mysqlUrl: shop.databaseUrl,
    redisUrl: shop.redisUrl,
    atRest: false,
  });
  expect(verdict.failed).toEqual([]);
});

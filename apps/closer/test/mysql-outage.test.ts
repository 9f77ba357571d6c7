import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TimeoutOrder } from '@lapse/contracts';
import { startMariadb } from '@lapse/local-services';
import { type ConsumeOptions, consumeTimeouts, countDeadLetters } from '@lapse/messaging';
import { judgeStoreFault } from '@lapse/order-repository';
import { consume, log, openActivity, openBroker, openShop, placeOrders, type Shop } from '@lapse/test-shop';
import { waitUntil } from '@lapse/testing';
import { expect, test } from 'vitest';
import { closeOrders } from '../src/close-orders.ts';

/** The least that the broker takes: a delivery is used up after this and some seconds. */
const invisibleMs = 10_000;
/** Two deliveries in all, so that an outage of a minute would use up several times as many. */
const retryMaxTimes = 1;

async function openCloser(shop: Shop, judge: Partial<Pick<ConsumeOptions, 'judge'>>) {
  const broker = await openBroker({ retryMaxTimes });
  const closer = await consumeTimeouts(
    { ...broker.config, ...consume, invisibleMs },
    {
      phase: 2,
      batchMax: 100,
      handle: closeOrders({ orders: shop.orders, releaseStock: () => undefined, log }),
      rearm: async () => undefined,
      park: shop.orders.parkMessage,
      now: shop.orders.now,
      log,
      ...judge,
    },
  );
  const send = async (orders: TimeoutOrder[]) => {
    const dueTime = Math.min(...orders.map((order) => order.dueTime));
    await broker.sender.send({ version: 1, phase: 2, dueTime, orders }, dueTime - 1_500);
  };
  const close = async () => {
    await closer.close();
    await broker.sender.close();
  };
  return { send, close, countLost: () => countDeadLetters(broker.config) };
}

test('MySQL away for longer than all deliveries of a message: none is a dead letter, all close by message', {
  timeout: 240_000,
}, async ({ onTestFinished }) => {
  const dir = await mkdtemp(join(tmpdir(), 'lapse-closer-'));
  const server = await startMariadb({ dir, database: 'outage', log: () => undefined });
  const shared = process.env.LAPSE_TEST_MYSQL_URL;
  process.env.LAPSE_TEST_MYSQL_URL = server.url;
  const shop = await openShop();
  const kept = await openCloser(shop, { judge: judgeStoreFault });
  const control = await openCloser(shop, {});
  onTestFinished(async () => {
    await Promise.all([kept.close(), control.close()]);
    await shop.close();
    process.env.LAPSE_TEST_MYSQL_URL = shared;
    await server.close();
    await rm(dir, { recursive: true, force: true });
  });
  const activity = await openActivity(shop, 100);
  const due = { remindInMs: 1, expireInMs: 8_000 };
  const { ids, closeDue } = await placeOrders(shop, activity, 20, due);
  const { closeDue: controlDue } = await placeOrders(shop, activity, 4, due);
  for (let at = 0; at < 20; at += 5) await kept.send(closeDue.slice(at, at + 5));
  // Understood by nobody: it has to be parked, in the store that is away.
  await kept.send([{ ...(closeDue[0] as TimeoutOrder), activityId: -1 }]);
  await control.send(controlDue);

  server.kill('SIGKILL');
  // The control has used up its deliveries by then: the outage is longer than all of them.
  await waitUntil(async () => (await control.countLost()) > 0, {
    what: 'the control to lose its message to the dead letters',
    timeoutMs: 120_000,
    everyMs: 500,
  });
  expect(await kept.countLost()).toBe(0);
  await server.start();
  const backAt = Date.now();

  const closed = () =>
    shop.count(
      "SELECT COUNT(*) FROM order_transition WHERE cause = 'message' AND credit > 0 AND order_id IN (?)",
      [ids.map((id) => Buffer.from(id.replaceAll('-', ''), 'hex'))],
    );
  await waitUntil(async () => (await closed()) === 20, { what: 'all 20 to close', timeoutMs: 40_000 });
  process.stdout.write(`MySQL back: 20 orders closed by their messages after ${Date.now() - backAt} ms\n`);
  await waitUntil(async () => (await shop.count('SELECT COUNT(*) FROM parked')) === 1, {
    what: 'the foreign message to be parked',
    timeoutMs: 20_000,
  });
  expect(await kept.countLost()).toBe(0);
});

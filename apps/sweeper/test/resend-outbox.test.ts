import { consumeTimeouts, type DueOrder, openTimeoutSender, type TimeoutConsumer } from '@lapse/messaging';
import { sleep } from '@lapse/runtime';
import {
  consume,
  log,
  openActivity,
  openBroker,
  openShop,
  placeOrders,
  relay,
  type Shop,
  type TestBroker,
} from '@lapse/test-shop';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepSender } from '../src/keep-sender.ts';
import { resendOutbox } from '../src/resend-outbox.ts';

const signal = new AbortController().signal;
const soon = { remindInMs: 1_500, expireInMs: 60_000 };

let shop: Shop;
let broker: TestBroker;
let consumer: TimeoutConsumer;
const received: string[] = [];

beforeAll(async () => {
  shop = await openShop();
  broker = await openBroker();
  const handle = async (orders: readonly DueOrder[]) => {
    received.push(...orders.map(({ orderId }) => orderId));
    return { retry: [] };
  };
  consumer = await consumeTimeouts(
    { ...broker.config, ...consume },
    {
      phase: 1,
      batchMax: 1_000,
      handle,
      rearm: async () => undefined,
      park: async () => undefined,
      now: shop.orders.now,
      log,
    },
  );
});
afterAll(async () => {
  await consumer.close();
  await broker.sender.close();
  await shop.close();
});

function resend(outboxAfterMs: number, takeSender = async () => broker.sender): Promise<number> {
  const config = { ...relay, outboxAfterMs };
  return resendOutbox({ orders: shop.orders, takeSender, config, log })(signal);
}

test('rows that their process never sent are sent once, and delivered', async () => {
  const activity = await openActivity(shop, 300);
  const { ids } = await placeOrders(shop, activity, 300, soon);

  expect(await resend(60_000)).toBe(0);
  expect(await resend(0)).toBe(2);
  expect(await resend(0)).toBe(0);

  await waitUntil(() => received.length >= 300, { what: '300 deliveries', timeoutMs: 20_000 });
  expect([...received].sort()).toEqual([...ids].sort());
  const [row] = await shop.query('SELECT COUNT(*) AS n FROM message_outbox WHERE message_id IS NULL');
  expect(Number(row?.n)).toBe(0);
});

test('several sweepers at once send each row once', async () => {
  received.length = 0;
  const activity = await openActivity(shop, 40);
  for (let index = 0; index < 40; index += 1) await placeOrders(shop, activity, 1, soon);

  const sent = await Promise.all([resend(0), resend(0), resend(0), resend(0)]);

  expect(sent.reduce((sum, rows) => sum + rows, 0)).toBe(40);
  await waitUntil(() => received.length >= 40, { what: '40 deliveries', timeoutMs: 20_000 });
  // Long enough for a second delivery of the same due time, had there been a second message.
  await sleep(1_000);
  expect(received).toHaveLength(40);
});

test('case 25: without a broker nothing is claimed; it is all sent at the first run after its return', async () => {
  const activity = await openActivity(shop, 3);
  await placeOrders(shop, activity, 3, soon);
  const away = async () => ({ isConnected: () => false, send: () => Promise.reject(new Error('away')) });

  await expect(resend(0, away as never)).rejects.toThrow('RocketMQ is away');

  expect(await shop.count('SELECT COUNT(*) FROM message_outbox WHERE sent_at IS NULL')).toBe(1);
  expect(await resend(0)).toBe(1);
});

test('a send that fails leaves its rows in the outbox with the reason, and ends the run', async () => {
  const activity = await openActivity(shop, 3);
  await placeOrders(shop, activity, 3, soon);
  const failing = async () => ({
    isConnected: () => true,
    send: () => Promise.reject(new Error('the broker said no')),
  });

  await expect(resend(0, failing as never)).rejects.toThrow('the broker said no');

  const [row] = await shop.query('SELECT last_error, sent_at FROM message_outbox WHERE sent_at IS NULL');
  expect(row?.last_error).toContain('the broker said no');
  await waitUntil(async () => (await resend(0)) === 1, { what: 'the row to be free again', everyMs: 100 });
});

test('the sender is opened at the first need that succeeds, once, and closed', async () => {
  let opened = 0;
  const kept = keepSender(async () => {
    opened += 1;
    if (opened === 1) throw new Error('no topic yet');
    return await openTimeoutSender(broker.config, log);
  });

  await expect(kept.ping()).rejects.toThrow('no topic yet');
  const [first, second] = await Promise.all([kept.take(), kept.take()]);
  expect(first).toBe(second);
  await kept.ping();
  expect(opened).toBe(2);

  await kept.close();
  expect(first.isConnected()).toBe(false);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { consumerGroupOf, topicOf } from '@lapse/contracts';
import { waitUntil } from '@lapse/testing';
import { describe, expect, test } from 'vitest';
import { closeClient } from '../src/close-client.ts';
import { openConsumer } from '../src/open-consumer.ts';
import {
  idsOf,
  latenessOf,
  log,
  newMessage,
  newOrder,
  newOrders,
  recordTimeouts,
  sendRaw,
  type TestConfig,
  testTopics,
} from './support.ts';

/** Long enough that nobody takes a redelivery for a delivery. */
const invisibleMs = 20_000;
/** What a message may take that nothing holds back, on a busy machine. */
const promptMsMax = 8_000;

async function sendOrders(config: TestConfig, count: number): Promise<string[]> {
  const messages = Array.from({ length: count }, () =>
    newMessage(
      2,
      newOrders(1, () => Date.now()),
    ),
  );
  await sendRaw(
    config,
    2,
    messages.map((message) => JSON.stringify(message)),
  );
  return messages.flatMap((message) => idsOf(message.orders));
}

describe.concurrent('a worker that stops', () => {
  test('leaves no poll behind: the next messages reach its successor at once', async () => {
    const config = { ...(await testTopics()), invisibleMs };
    const first = await recordTimeouts(config, 2);
    await sleep(500); // its polls are at the broker by now; nothing tells us from outside
    const before = await sendOrders(config, 8);
    await first.close();
    const after = await sendOrders(config, 8);
    const second = await recordTimeouts(config, 2);
    const handled = () => [...first.handled, ...second.handled];
    await waitUntil(() => handled().length >= 16, { what: 'all 16 orders', timeoutMs: promptMsMax });
    await second.close();
    expect(idsOf(handled())).toEqual([...before, ...after].sort());
  });

  test('would, if it did not wait for its polls, hold messages back for their invisible time (control)', async () => {
    const config = { ...(await testTopics()), invisibleMs };
    const topic = topicOf(2, config.topicPrefix);
    const group = consumerGroupOf(2, config.topicPrefix);
    const hasty = await openConsumer(config, { topic, group, awaitMs: 5_000, log });
    for (let poll = 0; poll < 4; poll += 1) void hasty.receive(32, invisibleMs).catch(() => []);
    await sleep(500);
    await closeClient(hasty);
    const sent = await sendOrders(config, 8);
    const second = await recordTimeouts(config, 2);
    await sleep(promptMsMax);
    const prompt = second.handled.length;
    await waitUntil(() => second.handled.length >= sent.length, { what: 'all orders', timeoutMs: 40_000 });
    await second.close();
    expect(prompt).toBeLessThan(sent.length);
  }, 70_000);

  test('hands back what is not due yet: its successor gets it long before the invisible time is over', async () => {
    const config = { ...(await testTopics()), invisibleMs: 120_000 };
    const order = newOrder(Date.now() + 60_000);
    await sendRaw(config, 2, [JSON.stringify(newMessage(2, [order]))]);
    const first = await recordTimeouts(config, 2);
    await waitUntil(() => first.inHand() === 1, { what: 'the order to be in hand' });
    await first.close();
    expect(first.handled).toEqual([]);
    const second = await recordTimeouts(config, 2);
    await waitUntil(() => second.inHand() === 1, { what: 'the successor to have it', timeoutMs: 20_000 });
    await second.close();
  }, 60_000);

  test('still handles what is due in the next moments', async () => {
    const config = await testTopics();
    const orders = newOrders(3, (index) => Date.now() + 5_500 + index * 400);
    await sendRaw(config, 2, [JSON.stringify(newMessage(2, orders))]);
    const consumer = await recordTimeouts(config, 2);
    await waitUntil(() => consumer.inHand() === 3, { what: 'the orders to be in hand' });
    await consumer.close();
    expect(idsOf(consumer.handled)).toEqual(idsOf(orders));
    for (const lateMs of latenessOf(consumer.handled, orders)) expect(lateMs).toBeGreaterThanOrEqual(0);
  });

  test('is closed within the time that the process gives it, also with a long receive and a handler that never ends', async () => {
    const config = { ...(await testTopics()), awaitMs: 8_000, closeTimeoutMs: 10_000 };
    const order = newOrder(Date.now());
    let begun = false;
    const consumer = await recordTimeouts(config, 2, {
      handle: () => {
        begun = true;
        return new Promise(() => {});
      },
    });
    await sendRaw(config, 2, [JSON.stringify(newMessage(2, [order]))]);
    await waitUntil(() => begun, { what: 'the order to be in the hands of the handler' });
    const startedAt = performance.now();
    await consumer.close();
    expect(performance.now() - startedAt).toBeLessThan(config.closeTimeoutMs);
  }, 40_000);

  test('closes twice without harm', async () => {
    const consumer = await recordTimeouts(await testTopics(), 2);
    await Promise.all([consumer.close(), consumer.close()]);
  });
});

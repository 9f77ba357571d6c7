import { waitUntil } from '@lapse/testing';
import { describe, expect, test } from 'vitest';
import {
  idsOf,
  newMessage,
  newOrder,
  newOrders,
  recordTimeouts,
  sendRaw,
  type TestConfig,
  testTopics,
} from './support.ts';

/** Polls of 5 s are waited for, and then what is due within 10 s. */
const drainMsMax = 30_000;
/** What a message may take that nothing holds back, on a busy machine. */
const promptMsMax = 8_000;

/** Messages of one order each, delivered at once and due in `dueInMs`. */
async function sendOrders(config: TestConfig, count: number, dueInMs = 0): Promise<string[]> {
  const messages = Array.from({ length: count }, () =>
    newMessage(
      2,
      newOrders(1, () => Date.now() + dueInMs),
    ),
  );
  await sendRaw(
    config,
    2,
    messages.map((message) => JSON.stringify(message)),
  );
  return messages.flatMap((message) => idsOf(message.orders));
}

type Consumer = Awaited<ReturnType<typeof recordTimeouts>>;
async function pauseAndWait(consumer: Consumer): Promise<void> {
  consumer.pause();
  await waitUntil(consumer.isDrained, { what: 'the consumer to be drained', timeoutMs: drainMsMax });
}

// Most of the time of each is a poll that is waited for: so, together.
describe.concurrent('a consumer that is paused', () => {
  test('leaves every message to another, which gets it at once; negative control: not paused it takes its share', async () => {
    const config = await testTopics();
    const [paused, other] = await Promise.all([recordTimeouts(config, 2), recordTimeouts(config, 2)]);
    await pauseAndWait(paused);
    const sent = await sendOrders(config, 40);
    await waitUntil(() => other.handled.length >= 40, {
      what: 'the other to have all',
      timeoutMs: promptMsMax,
    });
    expect([idsOf(other.handled), paused.handled]).toEqual([[...sent].sort(), []]);

    paused.resume();
    expect(paused.isDrained()).toBe(false);
    await waitUntil(
      async () => {
        await sendOrders(config, 10);
        return paused.handled.length > 0;
      },
      { what: 'the resumed one to take its share', timeoutMs: 25_000 },
    );
    await Promise.all([paused.close(), other.close()]);
  }, 90_000);

  test('finishes what is due soon, and hands the rest to another long before its invisible time is over', async () => {
    const config = { ...(await testTopics()), invisibleMs: 120_000 };
    const paused = await recordTimeouts(config, 2);
    const [soon, later] = [newOrder(Date.now() + 9_000), newOrder(Date.now() + 90_000)];
    await sendRaw(
      config,
      2,
      [soon, later].map((order) => JSON.stringify(newMessage(2, [order]))),
    );
    await waitUntil(() => paused.inHand() === 2, { what: 'both in hand', timeoutMs: promptMsMax });
    paused.pause();
    const other = await recordTimeouts(config, 2);
    await waitUntil(paused.isDrained, { what: 'the consumer to be drained', timeoutMs: drainMsMax });
    expect([idsOf(paused.handled), paused.inHand()]).toEqual([[soon.orderId], 0]);
    await waitUntil(() => other.inHand() === 1, { what: 'the other to have the rest', timeoutMs: 20_000 });
    expect(Date.now()).toBeLessThan(later.dueTime);
    await Promise.all([paused.close(), other.close()]);
  }, 90_000);

  test('is not drained while a batch is at work', async () => {
    const config = await testTopics();
    let finish: () => void = () => {};
    const blocked = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let batches = 0;
    const paused = await recordTimeouts(config, 2, {
      handle: async () => {
        batches += 1;
        await blocked;
        return { retry: [] };
      },
    });
    await sendOrders(config, 1);
    await waitUntil(() => batches > 0, { what: 'the batch to be at work', timeoutMs: promptMsMax });
    paused.pause();
    // Longer than its polls and its wait for what is due take.
    await new Promise((resolve) => setTimeout(resolve, 17_000));
    expect(paused.isDrained()).toBe(false);
    finish();
    await waitUntil(paused.isDrained, { what: 'the consumer to be drained' });
    await paused.close();
  }, 60_000);

  test('and resumed before it is drained goes on as if nothing had been', async () => {
    const config = await testTopics();
    const consumer = await recordTimeouts(config, 2);
    consumer.pause();
    consumer.resume();
    const sent = await sendOrders(config, 8);
    await waitUntil(() => consumer.handled.length >= 8, { what: 'all orders', timeoutMs: promptMsMax });
    expect(idsOf(consumer.handled)).toEqual([...sent].sort());
    await consumer.close();
  });

  test('closes at once: no poll is left to wait for', async () => {
    const config = await testTopics();
    const consumer = await recordTimeouts(config, 2);
    await pauseAndWait(consumer);
    const startedAt = performance.now();
    await consumer.close();
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  }, 60_000);

  test('comes back to what was sent meanwhile, when none other was there', async () => {
    const config = await testTopics();
    const consumer = await recordTimeouts(config, 2);
    await pauseAndWait(consumer);
    const sent = await sendOrders(config, 8);
    consumer.resume();
    await waitUntil(() => consumer.handled.length >= 8, { what: 'all orders', timeoutMs: promptMsMax });
    expect(idsOf(consumer.handled)).toEqual([...sent].sort());
    await consumer.close();
  }, 60_000);
});

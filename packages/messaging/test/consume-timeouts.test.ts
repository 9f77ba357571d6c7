import { ordersPerMessageMax } from '@lapse/contracts';
import { waitUntil } from '@lapse/testing';
import { describe, expect, test } from 'vitest';
import type { HandleResult } from '../src/handle-due.ts';
import {
  idsOf,
  newId,
  newMessage,
  newOrder,
  newOrders,
  recordTimeouts,
  sendRaw,
  testTopics,
} from './support.ts';

const wait = { timeoutMs: 25_000 };

// Each test has topics of its own, and most of its time is a poll that is waited for: so, together.
describe.concurrent('a consumer', () => {
  test('handles an order once while its duplicates are in hand, and acks them all', async () => {
    const config = await testTopics();
    // Later than the last of them is sent, on a busy machine too: what comes after the end is an order again.
    const dueAt = Date.now() + 6_000;
    const messages = Array.from({ length: 10 }, () =>
      newMessage(
        2,
        newOrders(5, () => dueAt),
      ),
    );
    const shuffled = [...messages, ...messages, ...messages].sort(() => Math.random() - 0.5);
    await sendRaw(
      config,
      2,
      shuffled.map((message) => JSON.stringify(message)),
    );
    const first = await recordTimeouts(config, 2);
    await waitUntil(() => first.handled.length >= 50, { what: 'every order to be handled', ...wait });
    await first.close();
    expect(idsOf(first.handled)).toEqual(idsOf(messages.flatMap((message) => message.orders)));
  });

  test('parks what it cannot understand, with the reason, and handles the rest', async () => {
    const config = await testTopics();
    const good = newMessage(
      2,
      newOrders(3, () => Date.now()),
    );
    const bad: [string, RegExp][] = [
      ['not json at all', /not JSON/],
      ['{"hello":"world"}', /no version/],
      [JSON.stringify({ ...good, version: 99 }), /version 99/],
      [
        JSON.stringify(
          newMessage(
            1,
            newOrders(1, () => Date.now()),
          ),
        ),
        /phase 1 on the topic of phase 2/,
      ],
      [JSON.stringify({ ...good, orders: [{ ...good.orders[0], orderId: 'x' }] }), /orders\.0\.orderId/],
      ['', /not JSON/],
      ['null', /no version/],
    ];
    const consumer = await recordTimeouts(config, 2);
    const bodies = bad.map(([body]) => body).filter((body) => body !== '');
    await sendRaw(config, 2, [...bodies.slice(0, 3), JSON.stringify(good), ...bodies.slice(3)]);
    await waitUntil(() => consumer.parked.length >= bodies.length && consumer.handled.length >= 3, {
      what: 'the good orders handled and the rest parked',
      ...wait,
    });
    await consumer.close();
    expect(idsOf(consumer.handled)).toEqual(idsOf(good.orders));
    expect(consumer.parked.map((message) => message.body.toString()).sort()).toEqual([...bodies].sort());
    for (const message of consumer.parked) {
      const [, reason] = bad.find(([body]) => body === message.body.toString()) ?? [];
      expect(message.reason).toMatch(reason ?? 'no such body');
      expect(message).toMatchObject({ phase: 2, messageId: expect.stringMatching(/^[0-9A-F]{34}$/) });
    }
  });

  test('gives a batch that failed to the handler again, and loses none of it', async () => {
    const config = await testTopics();
    const orders = newOrders(20, () => Date.now());
    let calls = 0;
    const consumer = await recordTimeouts(config, 2, {
      handle: async (batch): Promise<HandleResult> => {
        calls += 1;
        if (calls <= 3) throw new Error('the store is away');
        consumer.record(batch);
        return { retry: [] };
      },
    });
    await sendRaw(config, 2, [JSON.stringify(newMessage(2, orders))]);
    await waitUntil(() => consumer.handled.length >= 20, { what: 'the batch to be handled', ...wait });
    expect(consumer.inHand()).toBe(0);
    await consumer.close();
    expect(calls).toBe(4);
    expect(idsOf(consumer.handled)).toEqual(idsOf(orders));
  });

  test('looks again at the orders the handler asks for, when it asks, and only at those', async () => {
    const config = await testTopics();
    const [done, again] = [newOrder(Date.now()), newOrder(Date.now())];
    const looks: { ids: string[]; at: number }[] = [];
    const consumer = await recordTimeouts(config, 2, {
      handle: async (batch): Promise<HandleResult> => {
        looks.push({ ids: idsOf(batch), at: Date.now() });
        return { retry: looks.length === 1 ? [{ orderId: again.orderId, inMs: 400 }] : [] };
      },
    });
    await sendRaw(config, 2, [JSON.stringify(newMessage(2, [done, again]))]);
    await waitUntil(() => looks.length >= 2 && consumer.inHand() === 0, { what: 'a second look', ...wait });
    await consumer.close();
    expect(looks.map((look) => look.ids)).toEqual([idsOf([done, again]), [again.orderId]]);
    expect((looks[1]?.at ?? 0) - (looks[0]?.at ?? 0)).toBeGreaterThanOrEqual(399);
  });

  test('re-arms what is due later than it may hold it, unhandled, whether the message or the handler says so', async () => {
    const config = await testTopics();
    const soon = newOrder(Date.now());
    const moved = newOrder(Date.now());
    const later = newOrder(Date.now() + 3_600_000);
    let rearmCalls = 0;
    const rearmed: string[] = [];
    const consumer = await recordTimeouts(config, 2, {
      handle: async (batch): Promise<HandleResult> => {
        consumer.record(batch);
        return { retry: [{ orderId: moved.orderId, inMs: 300_000 }] };
      },
      rearm: async (orders) => {
        rearmCalls += 1;
        if (rearmCalls === 1) throw new Error('the store is away');
        rearmed.push(...idsOf(orders));
      },
    });
    await sendRaw(config, 2, [JSON.stringify(newMessage(2, [soon, moved, later]))]);
    await waitUntil(() => rearmed.length >= 2 && consumer.inHand() === 0, {
      what: 'two orders re-armed',
      ...wait,
    });
    await consumer.close();
    expect(idsOf(consumer.handled)).toEqual(idsOf([soon, moved]));
    expect(rearmed.sort()).toEqual(idsOf([moved, later]));
  });

  test('holds an order due soon after its hold ends to that end before it re-arms it: no chase with a fast broker', async () => {
    // 5 s of margin off the invisible time: held for 5 s. The broker takes no invisible time below 10 s.
    const config = { ...(await testTopics()), invisibleMs: 10_000 };
    const later = newOrder(Date.now() + 60_000);
    const rearmedAt: number[] = [];
    const consumer = await recordTimeouts(config, 2, {
      rearm: async () => {
        rearmedAt.push(performance.now());
      },
    });
    await sendRaw(config, 2, [JSON.stringify(newMessage(2, [later]))]);
    await waitUntil(() => consumer.inHand() === 1, { what: 'the order in hand', ...wait });
    const takenAt = performance.now();
    await waitUntil(() => rearmedAt.length > 0 && consumer.inHand() === 0, {
      what: 'its re-arming',
      ...wait,
    });
    await consumer.close();
    expect(rearmedAt).toHaveLength(1);
    expect((rearmedAt[0] ?? 0) - takenAt).toBeGreaterThan(4_000);
  });

  test('never holds more orders than it may; the rest wait in the broker and all are handled', async () => {
    const config = { ...(await testTopics()), ordersHeldMax: 2_400 };
    const messages = Array.from({ length: 20 }, () =>
      newMessage(
        2,
        newOrders(200, () => Date.now()),
      ),
    );
    await sendRaw(
      config,
      2,
      messages.map((message) => JSON.stringify(message)),
    );
    let release: () => void = () => {};
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const consumer = await recordTimeouts(config, 2, {
      handle: async (batch): Promise<HandleResult> => {
        await blocked;
        consumer.record(batch);
        return { retry: [] };
      },
    });
    let held = 0;
    const watch = setInterval(() => {
      held = Math.max(held, consumer.inHand());
    }, 1);
    await waitUntil(() => consumer.inHand() > 2_400 - ordersPerMessageMax, {
      what: 'memory to be full',
      ...wait,
    });
    release();
    await waitUntil(() => consumer.handled.length >= 4_000, { what: 'every order to be handled', ...wait });
    clearInterval(watch);
    await consumer.close();
    expect(held).toBeLessThanOrEqual(2_400);
    expect(idsOf(consumer.handled)).toEqual(idsOf(messages.flatMap((message) => message.orders)));
  });

  test('shares the work of its group with another, and no order goes to both', async () => {
    const config = await testTopics();
    const both = await Promise.all([recordTimeouts(config, 2), recordTimeouts(config, 2)]);
    const sent: string[] = [];
    const handled = () => both.flatMap((consumer) => consumer.handled);
    await waitUntil(
      async () => {
        const messages = Array.from({ length: 10 }, () =>
          newMessage(
            2,
            newOrders(2, () => Date.now()),
          ),
        );
        await sendRaw(
          config,
          2,
          messages.map((message) => JSON.stringify(message)),
        );
        sent.push(...messages.flatMap((message) => idsOf(message.orders)));
        return both.every((consumer) => consumer.handled.length > 0);
      },
      { what: 'both to have handled an order', ...wait },
    );
    await waitUntil(() => handled().length >= sent.length, { what: 'every order to be handled', ...wait });
    await Promise.all(both.map((consumer) => consumer.close()));
    expect(idsOf(handled())).toEqual(sent.sort());
  });

  test('gets messages that were sent before it was first started', async () => {
    const config = await testTopics();
    const messages = Array.from({ length: 12 }, () =>
      newMessage(
        1,
        newOrders(1, () => Date.now()),
      ),
    );
    await sendRaw(
      config,
      1,
      messages.map((message) => JSON.stringify(message)),
    );
    const consumer = await recordTimeouts(config, 1);
    await waitUntil(() => consumer.handled.length >= 12, { what: 'the older messages', ...wait });
    await consumer.close();
    expect(idsOf(consumer.handled)).toEqual(idsOf(messages.flatMap((message) => message.orders)));
  });

  test('forgets a batch that fails for longer than it may hold it, and handles it when it comes again', async () => {
    const config = { ...(await testTopics()), invisibleMs: 10_000 };
    const orders = newOrders(4, () => Date.now());
    let isAway = true;
    const consumer = await recordTimeouts(config, 2, {
      handle: async (batch): Promise<HandleResult> => {
        if (isAway) throw new Error('the store is away');
        consumer.record(batch);
        return { retry: [] };
      },
    });
    await sendRaw(config, 2, [JSON.stringify(newMessage(2, orders))]);
    await waitUntil(() => consumer.inHand() === 4, { what: 'the orders to be in hand', ...wait });
    await waitUntil(() => consumer.inHand() === 0, { what: 'the orders to be forgotten', ...wait });
    isAway = false;
    await waitUntil(() => consumer.handled.length >= 4, { what: 'the orders to come again', ...wait });
    await consumer.close();
    expect(idsOf(consumer.handled)).toEqual(idsOf(orders));
  }, 60_000);

  test('is not stopped by a message that cannot be parked: it comes again', async () => {
    const config = { ...(await testTopics()), invisibleMs: 10_000 };
    const parked: string[] = [];
    let calls = 0;
    const consumer = await recordTimeouts(config, 2, {
      park: async ({ body }) => {
        calls += 1;
        if (calls === 1) throw new Error('the store is away');
        parked.push(body.toString());
      },
    });
    const id = newId();
    await sendRaw(config, 2, [id]);
    await waitUntil(() => parked.length > 0, { what: 'the message to be parked', ...wait });
    await consumer.close();
    expect(parked).toEqual([id]);
  });
});

import { waitUntil } from '@lapse/testing';
import { describe, expect, test } from 'vitest';
import { openRelay } from '../src/relay.ts';
import { type SendOutcome, sendOutboxRows } from '../src/send-outbox-rows.ts';
import { deliverAheadMsMax, openTimeoutSender, type TimeoutSender } from '../src/timeout-sender.ts';
import {
  idsOf,
  log,
  newMessage,
  newOrder,
  newOrders,
  newRow,
  recordTimeouts,
  testTopics,
} from './support.ts';
import { openTcpProxy } from './tcp-proxy.ts';

const settings = { closeLeadMs: 1_500, dueWindowMs: 1_000 };

describe.concurrent('the sender', () => {
  test('refuses a time that the broker would take for "at once", and a message that is too large', async () => {
    const sender = await openTimeoutSender(await testTopics(), log);
    const message = newMessage(
      1,
      newOrders(1, () => Date.now()),
    );
    for (const time of [Number.NaN, 0, -1, 1.5, Number.POSITIVE_INFINITY]) {
      await expect(sender.send(message, time)).rejects.toMatchObject({ code: 'LAPSE_MESSAGE_INVALID' });
    }
    const large = newMessage(1, [newOrder(Date.now(), { userId: 'u'.repeat(300_000) })]);
    await expect(sender.send(large, Date.now())).rejects.toMatchObject({ code: 'LAPSE_MESSAGE_INVALID' });
    await sender.ping();
    expect(sender.isConnected()).toBe(true);
    await sender.close();
    expect(sender.isConnected()).toBe(false);
  });

  test('chains a deadline beyond what the broker can delay: it asks for 23 h, never for more', async () => {
    const sender = await openTimeoutSender(await testTopics(), log);
    const dueTime = Date.now() + 48 * 3_600_000;
    const { messageId, deliverAt } = await sender.send(
      newMessage(
        2,
        newOrders(1, () => dueTime),
      ),
      dueTime,
    );
    expect(messageId).toMatch(/^[0-9A-F]{34}$/);
    expect(deliverAt).toBeLessThanOrEqual(Date.now() + deliverAheadMsMax);
    expect(deliverAt).toBeGreaterThan(Date.now() + deliverAheadMsMax - 10_000);
    await sender.close();
  });

  test('opens without the broker, fails sends at once, and sends by itself once the broker is there', async () => {
    const config = await testTopics();
    const proxy = await openTcpProxy(config.endpoints);
    await proxy.cut();
    const sender = await openTimeoutSender({ ...config, endpoints: proxy.address }, log);
    const message = newMessage(
      1,
      newOrders(1, () => Date.now()),
    );
    await expect(sender.send(message, Date.now())).rejects.toMatchObject({
      code: 'LAPSE_SENDER_NOT_CONNECTED',
    });
    await expect(sender.ping()).rejects.toThrow();
    expect(sender.isConnected()).toBe(false);
    await proxy.restore();
    await waitUntil(() => sender.send(message, Date.now()), { what: 'a send to succeed', timeoutMs: 15_000 });
    await sender.close();
    await proxy.close();
  });

  test('closes while it was never connected', async () => {
    const sender = await openTimeoutSender({ ...(await testTopics()), endpoints: '127.0.0.1:1' }, log);
    await sender.close();
  });
});

/** Real sends, but the given calls fail before they reach the broker. */
function failing(sender: TimeoutSender, fails: (call: number) => boolean): Pick<TimeoutSender, 'send'> {
  let calls = 0;
  return {
    send: (message, at) => {
      calls += 1;
      return fails(calls) ? Promise.reject(new Error('the broker is away')) : sender.send(message, at);
    },
  };
}

describe.concurrent('outbox rows', () => {
  test('are reported failed when one of their messages failed, and sent only when all went', async () => {
    const sender = await openTimeoutSender(await testTopics(), log);
    const at = Date.now() + 60_000;
    const [early, late] = [
      newRow(
        1,
        newOrders(2, () => at),
      ),
      newRow(
        1,
        newOrders(2, () => at + 10_000),
      ),
    ];
    const both = newRow(
      1,
      newOrders(2, (index) => at + index * 10_000),
    );
    const outcome = await sendOutboxRows(
      failing(sender, (call) => call === 2),
      [early, late, both],
      settings,
    );
    expect(outcome.sent.map((row) => row.id)).toEqual([early.id]);
    expect(outcome.failed.map((row) => row.id).sort()).toEqual([late.id, both.id].sort());
    expect(outcome.failed[0]?.error).toBe('the broker is away');
    await sender.close();
  });

  test('of which none can be sent fail quickly, not one after the other', async () => {
    let calls = 0;
    const dead = {
      send: () => {
        calls += 1;
        return Promise.reject(new Error('the broker is away'));
      },
    };
    const rows = Array.from({ length: 500 }, (_, i) =>
      newRow(
        1,
        newOrders(1, () => 1_000_000 + i * 5_000),
      ),
    );
    const { sent, failed } = await sendOutboxRows(dead, rows, settings);
    expect(sent).toEqual([]);
    expect(failed).toHaveLength(500);
    expect(calls).toBeLessThanOrEqual(16);
  });

  test('reach the worker through the relay, gathered into few messages, and are marked sent', async () => {
    const config = await testTopics();
    const sender = await openTimeoutSender(config, log);
    const consumer = await recordTimeouts(config, 1);
    const marked: SendOutcome['sent'] = [];
    const relay = openRelay({
      ...settings,
      sender,
      gatherMs: 100,
      markSent: async (rows) => {
        marked.push(...rows);
      },
      log,
    });
    const rows = Array.from({ length: 40 }, () =>
      newRow(
        1,
        newOrders(3, () => Date.now() + 500),
      ),
    );
    for (const row of rows) relay.add(row);
    await waitUntil(() => consumer.handled.length >= 120, { what: 'every order to be handled' });
    await Promise.all([relay.close(), consumer.close()]);
    await sender.close();
    expect(idsOf(consumer.handled)).toEqual(idsOf(rows.flatMap((row) => row.orders)));
    expect(marked.map((row) => row.id).sort()).toEqual(rows.map((row) => row.id).sort());
    expect(new Set(marked.map((row) => row.messageId)).size).toBe(1);
  });

  test('still gathering when the relay closes are sent; what fails is left to the sweeper, unmarked', async () => {
    const sender = await openTimeoutSender(await testTopics(), log);
    const marked: string[] = [];
    const markSent = async (rows: SendOutcome['sent']) => {
      marked.push(...rows.map((row) => row.id));
    };
    const options = { ...settings, gatherMs: 60_000, markSent, log };
    const good = openRelay({ ...options, sender });
    const bad = openRelay({ ...options, sender: failing(sender, () => true) });
    const row = newRow(
      2,
      newOrders(1, () => Date.now() + 60_000),
    );
    good.add(row);
    bad.add(
      newRow(
        2,
        newOrders(1, () => Date.now() + 60_000),
      ),
    );
    await Promise.all([good.close(), bad.close()]);
    await sender.close();
    expect(marked).toEqual([row.id]);
  });
});

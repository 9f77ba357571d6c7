import type { Phase, TimeoutOrder } from '@lapse/contracts';
import { consumeTimeouts, type TimeoutConsumer, type TimeoutSender } from '@lapse/messaging';
import { judgeStoreFault } from '@lapse/order-repository';
import {
  consume,
  countCredits,
  log,
  noAnswer,
  openActivity,
  openBroker,
  openShop,
  outcomesOf,
  placeOrders,
  relay,
  type Shop,
  type TestBroker,
} from '@lapse/test-shop';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resendOutbox } from '../src/resend-outbox.ts';

const signal = new AbortController().signal;
const ops = { dryRun: false, actor: 'ops', reason: 'nobody knows who sent it' };
const page = { afterId: 0, limit: 100 };

let shop: Shop;
let broker: TestBroker;
let workers: TimeoutConsumer[];

/** Both workers' way with MySQL, without their processes: an app never imports another. */
function openWorker(phase: Phase): Promise<TimeoutConsumer> {
  const { orders } = shop;
  return consumeTimeouts(
    { ...broker.config, ...consume },
    {
      phase,
      batchMax: 1_000,
      handle: async (due) => {
        const ids = due.map(({ orderId }) => orderId);
        const result =
          phase === 1
            ? await orders.remindPending(ids)
            : await orders.closeExpired(ids, { cause: 'message' });
        const again = result.contended.map((orderId) => ({ orderId, inMs: 30 }));
        return {
          retry: [...again, ...result.notDue.map(({ orderId, dueInMs }) => ({ orderId, inMs: dueInMs }))],
        };
      },
      rearm: async () => undefined,
      park: orders.parkMessage,
      judge: judgeStoreFault,
      now: orders.now,
      log,
    },
  );
}

beforeAll(async () => {
  shop = await openShop();
  broker = await openBroker();
  workers = await Promise.all([openWorker(1), openWorker(2)]);
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
  await broker.sender.close();
  await shop.close();
});

/** Sends every unsent row as the sweeper does, each message `times` times. */
function resend(times: number) {
  const take = async (): Promise<Pick<TimeoutSender, 'send' | 'isConnected'>> => ({
    isConnected: () => true,
    send: async (message, deliverAtMs) => {
      const copies = message.orders.flatMap((order) => Array.from({ length: times }, () => order));
      const shuffled = copies.sort(() => Math.random() - 0.5);
      const receipts = await Promise.all(
        shuffled.map((order) => broker.sender.send({ ...message, orders: [order] }, deliverAtMs)),
      );
      const [receipt] = receipts;
      if (!receipt) throw new Error('a message without orders');
      return receipt;
    },
  });
  return resendOutbox({ orders: shop.orders, takeSender: take, config: { ...relay, outboxAfterMs: 0 }, log });
}

async function lateness(activityId: number, from: string, to: string): Promise<number> {
  const [row] = await shop.query(
    `SELECT MAX(TIMESTAMPDIFF(MICROSECOND, ${from}, ${to})) DIV 1000 AS late FROM orders WHERE activity_id = ?`,
    [activityId],
  );
  return Number(row?.late);
}

function countReminders(activityId: number): Promise<number> {
  return shop.count(
    `SELECT COUNT(*) FROM notification n JOIN orders o ON o.id = n.order_id
     WHERE n.stage = 'REMINDER' AND o.activity_id = ?`,
    [activityId],
  );
}

async function untilClosed(activityId: number, count: number, keepSending: () => Promise<unknown>) {
  await waitUntil(
    async () => {
      await keepSending();
      return (await countCredits(shop, activityId)) === count;
    },
    { what: `${count} orders to close`, timeoutMs: 40_000, everyMs: 100 },
  );
}

test('every message of both phases three times and shuffled: 10 closes, 10 reminders (case 13)', async () => {
  const activity = await openActivity(shop, 10);
  await placeOrders(shop, activity, 10, { remindInMs: 1_500, expireInMs: 5_000 });
  await untilClosed(activity.id, 10, () => resend(3)(signal));
  await waitUntil(() => workers.every((worker) => worker.inHand() === 0), {
    what: 'every copy to be done with',
    timeoutMs: 20_000,
  });
  expect(await countCredits(shop, activity.id)).toBe(10);
  expect(await countReminders(activity.id)).toBe(10);
  expect((await shop.orders.readActivity(activity.id))?.available).toBe(10);
  expect(await shop.orders.listParked({}, page)).toEqual([]);
}, 60_000);

test('the broker is away when orders are made and back before they are due: reminders and closes are on time (case 25)', async () => {
  const activity = await openActivity(shop, 10);
  await placeOrders(shop, activity, 10, { remindInMs: 4_000, expireInMs: 8_000 });
  const away = resendOutbox({
    orders: shop.orders,
    takeSender: async () => ({ isConnected: () => false, send: () => Promise.reject(new Error('away')) }),
    config: { ...relay, outboxAfterMs: 0 },
    log,
  });
  await expect(away(signal)).rejects.toThrow('RocketMQ is away');
  expect(await shop.count('SELECT COUNT(*) FROM message_outbox WHERE sent_at IS NULL')).toBe(1);
  // Back: what was never sent goes out, with the times that were promised.
  await untilClosed(activity.id, 10, () => resend(1)(signal));
  const remindLateMs = await lateness(activity.id, 'remind_at', 'reminded_at');
  const closeLateMs = await lateness(activity.id, 'expires_at', 'closed_at');
  process.stdout.write(`broker away at create: reminded ${remindLateMs} ms, closed ${closeLateMs} ms late\n`);
  // On a busy machine too: the sweeps would be 15 and 30 s late.
  expect(remindLateMs).toBeLessThan(3_000);
  expect(closeLateMs).toBeLessThan(3_000);
  expect(await countReminders(activity.id)).toBe(10);
}, 60_000);

test('foreign and unreadable messages are parked with the reason, others go on, and an operator drops them (case 26)', async () => {
  const activity = await openActivity(shop, 3);
  const { closeDue } = await placeOrders(shop, activity, 3, { remindInMs: 1, expireInMs: 3_000 });
  const dueTime = Math.min(...closeDue.map((order) => order.dueTime));
  const good = { version: 1 as const, phase: 2 as const, dueTime, orders: closeDue };
  const foreign = [
    { ...good, version: 99 },
    { ...good, orders: [{ ...(closeDue[0] as TimeoutOrder), orderId: 'ORDER-1' }] },
    { phase: 2, invoice: 'of another system' },
  ] as unknown as (typeof good)[];
  for (const message of [...foreign.slice(0, 2), good, ...foreign.slice(2)]) {
    await broker.sender.send(message, dueTime - 1_500);
  }
  await untilClosed(activity.id, 3, async () => undefined);
  const parked = await waitUntil(
    async () => {
      const rows = await shop.orders.listParked({ kind: 'message', state: 'PARKED' }, page);
      return rows.length === 3 ? rows : undefined;
    },
    { what: 'three messages to be parked', timeoutMs: 20_000 },
  );
  const ids = (parked ?? []).map(({ id }) => id);
  expect((parked ?? []).map(({ reason }) => reason).sort()).toEqual([
    expect.stringMatching(/no version/),
    expect.stringMatching(/orders\.0\.orderId/),
    expect.stringMatching(/version 99/),
  ]);
  expect((await outcomesOf(shop.orders.redriveParked(ids, ops, noAnswer))).map(({ kind }) => kind)).toEqual(
    Array.from({ length: 3 }, () => 'unreadable'),
  );
  expect((await outcomesOf(shop.orders.dropParked(ids, ops, noAnswer))).every(({ changed }) => changed)).toBe(
    true,
  );
  expect(await shop.orders.listParked({ state: 'PARKED' }, page)).toEqual([]);
}, 60_000);

import type { TimeoutOrder } from '@lapse/contracts';
import { countCredits, openActivity, placeOrders, readStock, relay as relayConfig } from '@lapse/test-shop';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openCloser, type TestCloser } from './open-closer.ts';

let opened: TestCloser;
let shop: TestCloser['shop'];
let broker: TestCloser['broker'];
let closer: TestCloser['closer'];
/** What this process believes the time to be, apart from the database's clock. */
let clockOffByMs = 0;

beforeAll(async () => {
  opened = await openCloser(() => clockOffByMs);
  ({ shop, broker, closer } = opened);
});
afterAll(() => opened?.close());

async function send(due: readonly TimeoutOrder[]): Promise<void> {
  const dueTime = Math.min(...due.map((order) => order.dueTime));
  const orders = [...due];
  await broker.sender.send({ version: 1, phase: 2, dueTime, orders }, dueTime - relayConfig.closeLeadMs);
}

async function closedLateness(activityId: number, count: number, timeoutMs = 20_000): Promise<number[]> {
  const sql = `SELECT TIMESTAMPDIFF(MICROSECOND, expires_at, closed_at) DIV 1000 AS late FROM orders
    WHERE activity_id = ? AND status = 'TIMEOUT_CLOSED' ORDER BY late`;
  const rows = await waitUntil(
    async () => {
      const closed = await shop.query(sql, [activityId]);
      return closed.length === count ? closed : undefined;
    },
    { what: `${count} closed orders`, timeoutMs },
  );
  return (rows ?? []).map(({ late }) => Number(late));
}

function report(what: string, lateness: readonly number[]): void {
  const at = (part: number) => lateness[Math.min(lateness.length - 1, Math.floor(lateness.length * part))];
  process.stdout.write(
    `${what}: ${lateness.length} closed, lateness min=${at(0)} p50=${at(0.5)} p99=${at(0.99)} max=${lateness.at(-1)} ms\n`,
  );
}

test('orders of one message close each at their own millisecond, never early, and the stock is back', async () => {
  const activity = await openActivity(shop, 40);
  const due: TimeoutOrder[] = [];
  for (let index = 0; index < 40; index += 1) {
    const placed = await placeOrders(shop, activity, 1, { remindInMs: 1, expireInMs: 3_500 + index * 25 });
    due.push(...placed.closeDue);
  }
  await send(due);

  const lateness = await closedLateness(activity.id, 40);

  report('one message, 40 due times', lateness);
  expect(lateness[0]).toBeGreaterThanOrEqual(0);
  // The bound is for two busy cores; an order closed with its message as a whole would be a second late.
  expect(lateness[20]).toBeLessThan(400);
  await waitUntil(async () => (await readStock(shop, activity.id)).redis === 40, { what: 'the release' });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 40, redis: 40, held: 0 });
});

test('case 13: every message sent three times and shuffled closes each order once', async () => {
  const activity = await openActivity(shop, 10);
  const { closeDue: due } = await placeOrders(shop, activity, 10, { remindInMs: 1, expireInMs: 2_500 });
  const messages = [...due, ...due, ...due].sort(() => Math.random() - 0.5);
  for (const order of messages) await send([order]);

  await closedLateness(activity.id, 10);

  await waitUntil(() => closer.inHand() === 0, { what: 'every delivery to be done', timeoutMs: 15_000 });
  expect(await countCredits(shop, activity.id)).toBe(10);
  await waitUntil(async () => (await readStock(shop, activity.id)).redis === 10, { what: 'the release' });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 10, redis: 10, held: 0 });
});

test('case 20: a process whose clock is 90 s fast closes nothing early', async () => {
  const activity = await openActivity(shop, 5);
  const { closeDue: due } = await placeOrders(shop, activity, 5, { remindInMs: 1, expireInMs: 4_000 });
  clockOffByMs = 90_000;
  await send(due);

  const lateness = await closedLateness(activity.id, 5);

  clockOffByMs = 0;
  report('clock 90 s fast', lateness);
  expect(lateness[0]).toBeGreaterThanOrEqual(0);
});

test('case 23: an order whose deadline moved gets a new message and closes at its new deadline', async () => {
  const activity = await openActivity(shop, 1);
  const { closeDue: due } = await placeOrders(shop, activity, 1, { remindInMs: 1, expireInMs: 2_500 });
  await send(due);
  await shop.query('UPDATE orders SET expires_at = expires_at + INTERVAL 14 SECOND WHERE activity_id = ?', [
    activity.id,
  ]);

  const lateness = await closedLateness(activity.id, 1, 30_000);

  report('deadline moved by 14 s', lateness);
  expect(lateness[0]).toBeGreaterThanOrEqual(0);
  expect(await countCredits(shop, activity.id)).toBe(1);
  const [row] = await shop.query(
    'SELECT COUNT(*) AS n FROM message_outbox WHERE phase = 2 AND sent_at IS NOT NULL',
  );
  expect(Number(row?.n)).toBeGreaterThanOrEqual(1);
});

test('a message of an unknown version is parked and does not stop the others', async () => {
  const activity = await openActivity(shop, 1);
  const { closeDue: due } = await placeOrders(shop, activity, 1, { remindInMs: 1, expireInMs: 2_000 });
  const dueTime = due[0]?.dueTime ?? 0;
  const foreign = { version: 99, phase: 2, dueTime, orders: due } as unknown as Parameters<
    TestCloser['broker']['sender']['send']
  >[0];
  await broker.sender.send(foreign, dueTime - relayConfig.closeLeadMs);
  await send(due);

  expect(await closedLateness(activity.id, 1)).toHaveLength(1);

  await waitUntil(() => shop.count("SELECT COUNT(*) FROM parked WHERE kind = 'message'"), {
    what: 'parking',
  });
  expect(await shop.count("SELECT COUNT(*) FROM parked WHERE kind = 'message'")).toBe(1);
});

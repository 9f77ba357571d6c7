import { readFileSync } from 'node:fs';
import type { TimeoutMessage } from '@lapse/contracts';
import { countCredits, openActivity, placeOrders, readStock } from '@lapse/test-shop';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openCloser, type TestCloser } from './open-closer.ts';

const fixture = new URL(
  '../../../packages/contracts/test/fixtures/version-1/message-phase-2.bytes',
  import.meta.url,
);
const bytes = readFileSync(fixture).toString();
const message = JSON.parse(bytes) as TimeoutMessage;

let opened: TestCloser;
beforeAll(async () => {
  opened = await openCloser();
});
afterAll(() => opened?.close());

test("a rolling update: orders in messages of version 1, and in today's, are closed side by side, each once", async () => {
  const { shop, broker, relay, closer } = opened;
  const activity = await openActivity(shop, 20);
  const old = message.orders.map(({ orderId }) => orderId);
  await placeOrders(shop, activity, old.length, { remindInMs: 1, expireInMs: 1_500 }, old);
  const today = await placeOrders(shop, activity, 10, { remindInMs: 1, expireInMs: 1_500 });
  // The sender writes what it is given, so these are the bytes of then.
  expect(JSON.stringify(message)).toBe(bytes);
  for (let copy = 0; copy < 2; copy += 1) await broker.sender.send(message, Date.now());
  relay.add({ id: today.outbox[0]?.id ?? '', phase: 2, orders: today.closeDue });

  const closed = `SELECT COUNT(*) FROM orders WHERE activity_id = ? AND status = 'TIMEOUT_CLOSED'`;
  await waitUntil(async () => (await shop.count(closed, [activity.id])) === 13, {
    ...{ what: 'the orders of both to close', timeoutMs: 30_000 },
  });
  await waitUntil(() => closer.inHand() === 0, { what: 'every delivery to be done', timeoutMs: 15_000 });
  expect(await countCredits(shop, activity.id)).toBe(13);
  expect(
    await shop.count(
      "SELECT COUNT(*) FROM order_transition WHERE to_status = 'TIMEOUT_CLOSED' AND cause = 'message'",
    ),
  ).toBe(13);
  await waitUntil(async () => (await readStock(shop, activity.id)).redis === 20, { what: 'the release' });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 20, redis: 20, held: 0 });
  expect(await shop.count('SELECT COUNT(*) FROM parked')).toBe(0);
});

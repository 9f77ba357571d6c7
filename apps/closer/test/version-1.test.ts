import { readFileSync } from 'node:fs';
import type { TimeoutMessage } from '@lapse/contracts';
import { consumeTimeouts, openRelay, type Relay, type TimeoutConsumer } from '@lapse/messaging';
import { rearmOrders } from '@lapse/order-flow';
import {
  consume,
  countCredits,
  log,
  openActivity,
  openBroker,
  openShop,
  placeOrders,
  readStock,
  relay as relayConfig,
  type Shop,
  type TestBroker,
} from '@lapse/test-shop';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeOrders } from '../src/close-orders.ts';
import { openReleaseLane } from '../src/open-release-lane.ts';

const fixture = new URL(
  '../../../packages/contracts/test/fixtures/version-1/message-phase-2.bytes',
  import.meta.url,
);
const bytes = readFileSync(fixture).toString();
const message = JSON.parse(bytes) as TimeoutMessage;

let shop: Shop;
let broker: TestBroker;
let relay: Relay;
let closer: TimeoutConsumer;
const owned: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  shop = await openShop();
  broker = await openBroker();
  const { orders, stock } = shop;
  relay = openRelay({ ...relayConfig, sender: broker.sender, markSent: orders.markOutboxSent, log });
  const lane = openReleaseLane({ stock, orders, log });
  closer = await consumeTimeouts(
    { ...broker.config, ...consume },
    {
      ...{ phase: 2, batchMax: 2_000, handle: closeOrders({ orders, releaseStock: lane.release, log }) },
      ...{ rearm: rearmOrders({ phase: 2, orders, relay, log }), park: orders.parkMessage },
      ...{ now: orders.now, log },
    },
  );
  owned.push(closer, lane, relay, broker.sender);
});
afterAll(async () => {
  for (const part of owned) await part.close();
  await shop.close();
});

test("a rolling update: orders in messages of version 1, and in today's, are closed side by side, each once", async () => {
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

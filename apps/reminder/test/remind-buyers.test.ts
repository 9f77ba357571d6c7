import type { OutboxRow } from '@lapse/contracts';
import { sleep } from '@lapse/runtime';
import { log, openActivity, openShop, placeOrders, type Shop } from '@lapse/test-shop';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { remindBuyers } from '../src/remind-buyers.ts';

const due = { remindInMs: -5, expireInMs: 300_000 };

let shop: Shop;
let handle: ReturnType<typeof remindBuyers>;
let relayed: OutboxRow[] = [];
let woken = 0;

beforeAll(async () => {
  shop = await openShop();
  handle = remindBuyers({
    orders: shop.orders,
    relay: { add: (row) => void relayed.push(row) },
    noticesWait: () => {
      woken += 1;
    },
    log,
  });
});
beforeEach(() => {
  relayed = [];
  woken = 0;
});
afterAll(() => shop.close());

function countNotices(activityId: number): Promise<number> {
  return shop.count(
    'SELECT COUNT(*) FROM notification n JOIN orders o ON o.id = n.order_id WHERE o.activity_id = ?',
    [activityId],
  );
}

test('a reminder writes the claim, the notice and the closing message, and wakes the delivery', async () => {
  const activity = await openActivity(shop, 3);
  const placed = await placeOrders(shop, activity, 3, due);

  expect(await handle(placed.remindDue)).toEqual({ retry: [] });

  expect(woken).toBe(1);
  expect(relayed).toHaveLength(1);
  expect(relayed[0]?.phase).toBe(2);
  expect(relayed[0]?.orders.map(({ orderId }) => orderId).sort()).toEqual([...placed.ids].sort());
  for (const { orderId, dueTime } of relayed[0]?.orders ?? []) {
    const order = await shop.orders.readOrder(orderId);
    expect(dueTime).toBe(order?.expiresAt.getTime());
    expect(order).toMatchObject({ status: 'PENDING', remindedAt: expect.any(Date) });
  }
  expect(await countNotices(activity.id)).toBe(3);
});

test('every message three times and shuffled reminds each of 10 orders once (case 13)', async () => {
  const activity = await openActivity(shop, 10);
  const placed = await placeOrders(shop, activity, 10, due);
  const deliveries = [...placed.remindDue, ...placed.remindDue, ...placed.remindDue].sort(
    () => Math.random() - 0.5,
  );

  const rest = await Promise.all(
    Array.from({ length: 10 }, (_, index) => handle(deliveries.slice(index * 3, index * 3 + 3))),
  );
  const again = new Set(rest.flatMap(({ retry }) => retry.map(({ orderId }) => orderId)));
  await sleep(50);
  await handle(placed.remindDue.filter(({ orderId }) => again.has(orderId)));

  expect(await countNotices(activity.id)).toBe(10);
  const closing = relayed.flatMap(({ orders }) => orders.map(({ orderId }) => orderId));
  expect(closing.sort()).toEqual([...placed.ids].sort());
});

test('paid a second before the reminder is due, the buyer is not reminded (case 14)', async () => {
  const activity = await openActivity(shop, 1);
  const placed = await placeOrders(shop, activity, 1, due);
  await shop.orders.recordPayment({
    eventId: 'event-14',
    type: 'payment.captured',
    paymentId: 'payment-14',
    orderId: placed.ids[0] ?? '',
    amountMinor: activity.priceMinor,
    currency: activity.currency,
    occurredAt: new Date(),
  });

  expect(await handle(placed.remindDue)).toEqual({ retry: [] });

  expect({ relayed, woken }).toEqual({ relayed: [], woken: 0 });
  expect(await countNotices(activity.id)).toBe(0);
});

test('a reminder that comes early waits as long as the database says, and reminds nobody', async () => {
  const activity = await openActivity(shop, 2);
  const placed = await placeOrders(shop, activity, 2, { remindInMs: 30_000, expireInMs: 60_000 });

  const { retry } = await handle(placed.remindDue);

  expect(retry).toHaveLength(2);
  for (const { inMs } of retry) expect(inMs).toBeGreaterThan(25_000);
  expect(await countNotices(activity.id)).toBe(0);
});

test('an order that does not exist stops nobody else', async () => {
  const activity = await openActivity(shop, 1);
  const placed = await placeOrders(shop, activity, 1, due);
  const [first] = placed.remindDue;
  if (!first) throw new Error('no order');

  await handle([{ ...first, orderId: '01890000-0000-7000-8000-000000000000' }, first]);

  expect(await countNotices(activity.id)).toBe(1);
});

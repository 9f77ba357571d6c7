import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Activity, NewOrder, OrderFilter } from '../src/index.ts';
import { captureOf, createActivity, type Fixture, idsOf, newOrder, openFixture } from './fixture.ts';

let fixture: Fixture;
let activity: Activity;
let orders: NewOrder[];
beforeAll(async () => {
  fixture = await openFixture();
  activity = await createActivity(fixture.repository);
  const other = await createActivity(fixture.repository);
  const at = Date.now();
  const createdAt = (index: number) => new Date(at - 10_000 + index);
  orders = Array.from({ length: 5 }, (_, index) => newOrder(activity, { createdAt: createdAt(index) }));
  const second = newOrder(other, { userId: orders[0]?.userId ?? '' });
  orders.push(second);
  orders.sort((a, b) => (a.id < b.id ? -1 : 1));
  await fixture.repository.createOrders(orders);
  await fixture.repository.cancelOrder(second.id, second.userId);
});
afterAll(() => fixture?.close());

const find = async (filter: OrderFilter, page: { beforeId?: string; limit?: number } = {}) =>
  (await fixture.repository.findOrders({ filter, limit: 100, ...page })).map(({ id }) => id);
const newestFirst = (some: readonly NewOrder[]) => idsOf(some).sort().reverse();

it('orders of a user are found in every activity and state, newest first', async () => {
  const userId = orders.at(-1)?.userId ?? '';
  const own = orders.filter((order) => order.userId === userId);
  expect(own).toHaveLength(2);
  expect(await find({ by: 'user', userId })).toEqual(newestFirst(own));
  expect(await find({ by: 'user', userId: `${userId}0` })).toEqual([]);
  const [first] = own;
  const activityId = first?.activityId ?? 0;
  const there = own.filter((order) => order.activityId === activityId);
  expect(await find({ by: 'user', userId, activityId })).toEqual(newestFirst(there));
  expect(await find({ by: 'user', userId, activityId: activityId + 1_000_000 })).toEqual([]);
});

it('orders of an activity come a page at a time, each once', async () => {
  const filter = { by: 'activity', activityId: activity.id } as const;
  const expected = newestFirst(orders.filter(({ activityId }) => activityId === activity.id));
  const first = await find(filter, { limit: 3 });
  const second = await find(filter, { limit: 3, beforeId: first.at(-1) ?? '' });
  expect([...first, ...second]).toEqual(expected);
});

it('the order of a payment is found once, also where the payment was told twice, or failed before', async () => {
  const [order] = orders;
  if (!order) throw new Error('it is there');
  const paymentId = `payment-${order.id}`;
  await fixture.repository.recordPayment(captureOf(order, { eventId: 'a', type: 'payment.failed' }));
  await fixture.repository.recordPayment(captureOf(order, { eventId: 'b' }));
  expect(await find({ by: 'payment', paymentId })).toEqual([order.id]);
  expect(await find({ by: 'payment', paymentId: 'nobody knows' })).toEqual([]);
});

it('an order is found by its own id', async () => {
  const [order] = orders;
  expect(await find({ by: 'order', orderId: order?.id ?? '' })).toEqual([order?.id]);
});

import { workInLanes } from '@lapse/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Activity, CreateResult, NewOrder } from '../src/index.ts';
import { createActivity, type Fixture, newOrder, openFixture } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

const kinds = (results: readonly CreateResult[]) => results.map(({ kind }) => kind);
const available = async ({ id }: Activity) => (await fixture.repository.readActivity(id))?.available;

test('a batch is committed whole: orders, transitions, one outbox row, and the places', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const orders = Array.from({ length: 20 }, () => newOrder(activity, { quantity: 2 }));
  const { results, outbox } = await repository.createOrders(orders);
  expect(new Set(kinds(results))).toEqual(new Set(['created']));
  expect(await available(activity)).toBe(60);
  expect(outbox?.phase).toBe(1);
  expect(outbox?.orders.map(({ orderId }) => orderId)).toEqual(orders.map(({ id }) => id));
  expect(outbox?.orders[0]?.dueTime).toBe(orders[0]?.remindAt.getTime());
  const [first = newOrder(activity)] = orders;
  const { generation: _ofTheHold, ...asked } = first;
  const timeline = await repository.readTimeline(first.id);
  expect(timeline?.order).toMatchObject({ ...asked, status: 'PENDING', version: 1 });
  expect(timeline?.transitions).toMatchObject([
    { version: 1, fromStatus: null, toStatus: 'PENDING', cause: 'create', credit: 0 },
  ]);
  expect(timeline?.messages).toMatchObject([
    { outboxId: outbox?.id, phase: 1, orderCount: 20, sentAt: null },
  ]);
});

test('the same key again answers with the first order and sells nothing', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const order = newOrder(activity);
  await repository.createOrders([order]);
  const other = newOrder(activity);
  const repeat = newOrder(activity, { userId: order.userId, idempotencyKey: order.idempotencyKey });
  const { results } = await repository.createOrders([repeat, other, order]);
  expect(results).toMatchObject([
    { kind: 'same_key', order: { id: order.id, requestHash: order.requestHash } },
    { kind: 'created' },
    { kind: 'same_key', order: { id: order.id } },
  ]);
  expect(await available(activity)).toBe(98);
});

test('the same key of another buyer is another order', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const order = newOrder(activity);
  const other = newOrder(activity, { idempotencyKey: order.idempotencyKey });
  expect(kinds((await repository.createOrders([order, other])).results)).toEqual(['created', 'created']);
});

test('buyers whose names differ by case or accent alone are different buyers', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const orders = ['Anna', 'anna', 'ánna', 'anna ', '安娜', '👩‍🎤'].map((userId) =>
    newOrder(activity, { userId }),
  );
  const { results } = await repository.createOrders(orders);
  expect(new Set(kinds(results))).toEqual(new Set(['created']));
  expect((await repository.findActiveOrder(activity.id, '👩‍🎤'))?.userId).toBe('👩‍🎤');
});

test('a buyer holds one active order of an activity, and may buy again once it is closed', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const order = newOrder(activity);
  await repository.createOrders([order]);
  const second = newOrder(activity, { userId: order.userId });
  expect((await repository.createOrders([second])).results).toMatchObject([
    { kind: 'already_holding', order: { id: order.id } },
  ]);
  await repository.cancelOrder(order.id, order.userId);
  expect(kinds((await repository.createOrders([second])).results)).toEqual(['created']);
});

test('rivals inside one batch are judged in their order, and harm nobody else', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const a = newOrder(activity);
  const sameKey = newOrder(activity, { userId: a.userId, idempotencyKey: a.idempotencyKey });
  const sameBuyer = newOrder(activity, { userId: a.userId });
  const other = newOrder(activity);
  const { results } = await repository.createOrders([a, sameKey, sameBuyer, a, other]);
  expect(results).toMatchObject([
    { kind: 'created' },
    { kind: 'same_key', order: { id: a.id } },
    { kind: 'already_holding', order: { id: a.id } },
    { kind: 'created' },
    { kind: 'created' },
  ]);
  expect(await available(activity)).toBe(98);
});

test('fifty clicks with one key at once make one order and one decrement', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const first = newOrder(activity);
  const clicks = Array.from({ length: 50 }, () =>
    newOrder(activity, { userId: first.userId, idempotencyKey: first.idempotencyKey }),
  );
  const answers = await Promise.all(clicks.map((click) => repository.createOrders([click])));
  const all = answers.flatMap(({ results }) => kinds(results));
  expect(all.filter((kind) => kind === 'created')).toHaveLength(1);
  expect(all.filter((kind) => kind === 'same_key')).toHaveLength(49);
  expect(await available(activity)).toBe(99);
});

test('a shortage refuses exactly what does not fit, in the order of the input', async () => {
  const { repository } = fixture;
  const [scarce, plenty] = [
    await createActivity(repository, { capacity: 3 }),
    await createActivity(repository),
  ];
  const orders = [
    newOrder(scarce, { quantity: 2 }),
    newOrder(plenty),
    newOrder(scarce, { quantity: 2 }),
    newOrder(scarce, { quantity: 1 }),
    newOrder(scarce, { quantity: 1 }),
  ];
  const { results, outbox } = await repository.createOrders(orders);
  expect(kinds(results)).toEqual(['created', 'created', 'sold_out', 'created', 'sold_out']);
  expect(await available(scarce)).toBe(0);
  expect(await available(plenty)).toBe(99);
  expect(outbox?.orders).toHaveLength(3);
  expect(await repository.readOrder(orders[2]?.id ?? '')).toBeUndefined();
});

test("a sold out order does not hide its buyer's next one", async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository, { capacity: 1 });
  const tooMany = newOrder(activity, { quantity: 2 });
  const fits = newOrder(activity, { userId: tooMany.userId });
  const { results } = await repository.createOrders([tooMany, fits]);
  expect(kinds(results)).toEqual(['sold_out', 'created']);
});

test('a hold of an older generation is refused, and its neighbours are not', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  await repository.rebuildSnapshot(activity.id, async () => 'run-1');
  const fresh = { ...activity, generation: activity.generation + 1 };
  const { results } = await repository.createOrders([newOrder(activity), newOrder(fresh)]);
  expect(kinds(results)).toEqual(['stale_generation', 'created']);
});

test('a fenced hold never becomes an order', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const [late, written] = [newOrder(activity), newOrder(activity)];
  await repository.createOrders([written]);
  const holds = [late, written].map(({ id, activityId, userId, quantity }) => ({
    orderId: id,
    activityId,
    userId,
    quantity,
  }));
  const fence = await repository.fenceOrphans(holds);
  expect(fence).toEqual({ fenced: [late.id] });
  expect(await repository.fenceOrphans(holds)).toEqual(fence);
  expect(kinds((await repository.createOrders([late])).results)).toEqual(['stale_generation']);
  expect((await repository.readOrder(late.id))?.status).toBe('ABORTED');
  expect(await available(activity)).toBe(99);
});

test('creates, fences and cancels of the same ids at once never sell a fenced hold', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository, { capacity: 1_000 });
  const orders = Array.from({ length: 200 }, () => newOrder(activity));
  const sold = new Set<string>();
  const fenced = new Set<string>();
  const create = async (order: NewOrder): Promise<void> => {
    const { results } = await repository.createOrders([order]);
    if (results[0]?.kind === 'created') sold.add(order.id);
  };
  const fence = async ({ id, activityId, userId }: NewOrder): Promise<void> => {
    const answer = await repository.fenceOrphans([{ orderId: id, activityId, userId, quantity: 1 }]);
    for (const orderId of answer.fenced) fenced.add(orderId);
  };
  // As many at once as there are connections. Which of the two is asked first, and so mostly wins, changes.
  await workInLanes(orders, 4, async (order) => {
    const both = sold.size < fenced.size ? [create, fence] : [fence, create];
    await Promise.all(both.map((ask) => ask(order)));
  });
  for (const { id } of orders) expect(sold.has(id)).toBe(!fenced.has(id));
  expect(Math.min(sold.size, fenced.size)).toBeGreaterThan(0);
});

test('eight writers selling the last places sell exactly the capacity', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository, { capacity: 150 });
  const batches = Array.from({ length: 30 }, () => Array.from({ length: 10 }, () => newOrder(activity)));
  const answers = await Promise.all(batches.map((batch) => repository.createOrders(batch)));
  const all = answers.flatMap(({ results }) => kinds(results));
  expect(all.filter((kind) => kind === 'created')).toHaveLength(150);
  expect(all.filter((kind) => kind === 'sold_out')).toHaveLength(150);
  expect(await available(activity)).toBe(0);
});

test('the schema itself keeps the places between none and the capacity, whatever statement comes', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository, { capacity: 1 });
  await repository.createOrders([newOrder(activity)]);
  await expect(
    fixture.query('UPDATE activity SET available = available - 1 WHERE id = ?', [activity.id]),
  ).rejects.toMatchObject({ errno: 1690 });
  await expect(
    fixture.query('UPDATE activity SET available = available + 2 WHERE id = ?', [activity.id]),
  ).rejects.toThrow(/activity_available_max/);
});

test('orders are found by their keys, in the order asked', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const [a, b] = [newOrder(activity), newOrder(activity)];
  await repository.createOrders([a, b]);
  const found = await repository.findOrdersByKey([b, { userId: a.userId, idempotencyKey: 'never' }, a]);
  expect(found.map((order) => order?.id)).toEqual([b.id, undefined, a.id]);
});

test('a thousand orders go in at once, and one more is refused before MySQL is asked', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository, { capacity: 5_000 });
  const longest = (index: number) => `${index}`.padEnd(128, '\u{10000}'.slice(0, 2)).slice(0, 128);
  const orders = Array.from({ length: 1_000 }, (_, index) =>
    newOrder(activity, { userId: longest(index).toWellFormed() }),
  );
  expect(new Set(kinds((await repository.createOrders(orders)).results))).toEqual(new Set(['created']));
  await expect(repository.createOrders([...orders, newOrder(activity)])).rejects.toThrow(RangeError);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  captureOf,
  createActivity,
  createDueOrders,
  type Fixture,
  newOrder,
  openFixture,
} from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

async function pendingOrder() {
  const activity = await createActivity(fixture.repository);
  const order = newOrder(activity);
  await fixture.repository.createOrders([order]);
  return { activity, order };
}

test('a capture makes a pending order PAID, once, with one confirm', async () => {
  const { repository } = fixture;
  const { activity, order } = await pendingOrder();
  const paid = await repository.recordPayment(captureOf(order));
  expect(paid).toMatchObject({
    outcome: 'paid',
    order: { status: 'PAID', version: 2 },
    effect: { kind: 'confirm', activityId: activity.id, orderIds: [order.id] },
  });
  expect(await repository.recordPayment(captureOf(order))).toMatchObject({ outcome: 'duplicate' });
  const timeline = await repository.readTimeline(order.id);
  expect(timeline?.transitions.map(({ toStatus, credit }) => [toStatus, credit])).toEqual([
    ['PENDING', 0],
    ['PAID', 0],
  ]);
  expect(timeline?.payments).toMatchObject([{ state: 'CAPTURED', eventId: `event-${order.id}` }]);
  expect(timeline?.pendingEffects).toMatchObject([{ kind: 'confirm' }]);
  expect((await repository.readActivity(activity.id))?.available).toBe(99);
});

test('the same webhook five times at once after the close: one refund is owed', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const [order] = await createDueOrders(repository, activity, 1);
  if (!order) throw new Error('an order was created');
  await repository.closeExpired([order.id], { cause: 'message' });
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => repository.recordPayment(captureOf(order))));
  expect(answers.map(({ outcome }) => outcome).sort()).toEqual([
    ...Array.from({ length: 4 }, () => 'duplicate'),
    'refund_pending',
  ]);
  const rows = await fixture.query('SELECT state FROM payment WHERE payment_id = ?', [`payment-${order.id}`]);
  expect(rows).toEqual([{ state: 'REFUND_PENDING' }]);
  expect((await repository.readOrder(order.id))?.status).toBe('TIMEOUT_CLOSED');
  expect((await repository.readActivity(activity.id))?.available).toBe(100);
});

test('one capture under two event ids counts once; a second payment of a paid order is refunded', async () => {
  const { repository } = fixture;
  const { order } = await pendingOrder();
  const answers = await Promise.all([
    repository.recordPayment(captureOf(order)),
    repository.recordPayment(captureOf(order, { eventId: `again-${order.id}` })),
  ]);
  expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['duplicate', 'paid']);
  const second = captureOf(order, { eventId: `other-${order.id}`, paymentId: `other-${order.id}` });
  expect(await repository.recordPayment(second)).toMatchObject({
    outcome: 'refund_pending',
    order: { status: 'PAID' },
  });
});

test.each([
  ['amount', { amountMinor: 1 }],
  ['currency', { currency: 'EUR' }],
])('a capture of another %s is quarantined, and the order stays pending', async (_what, change) => {
  const { repository } = fixture;
  const { order } = await pendingOrder();
  const result = await repository.recordPayment(captureOf(order, change));
  expect(result).toMatchObject({ outcome: 'quarantined', order: { status: 'PENDING' } });
  expect((await repository.readTimeline(order.id))?.payments).toMatchObject([{ state: 'QUARANTINED' }]);
});

test('a failed event never changes a paid order, and does not stand in the way of a later capture', async () => {
  const { repository } = fixture;
  const { order } = await pendingOrder();
  const failed = captureOf(order, { type: 'payment.failed', eventId: `failed-${order.id}` } as never);
  expect(await repository.recordPayment(failed)).toMatchObject({
    outcome: 'ignored',
    order: { status: 'PENDING' },
  });
  expect(await repository.recordPayment(captureOf(order))).toMatchObject({ outcome: 'paid' });
  const late = { ...failed, eventId: `late-${order.id}`, paymentId: `late-${order.id}` };
  expect(await repository.recordPayment(late)).toMatchObject({
    outcome: 'ignored',
    order: { status: 'PAID' },
  });
});

test('a payment that arrives before its order is kept, and pays it when it comes again (case 7)', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const order = newOrder(activity);
  expect(await repository.recordPayment(captureOf(order))).toEqual({ outcome: 'kept' });
  expect(await repository.recordPayment(captureOf(order))).toEqual({ outcome: 'kept' });
  await repository.createOrders([order]);
  expect(await repository.recordPayment(captureOf(order))).toMatchObject({
    outcome: 'paid',
    order: { status: 'PAID' },
  });
  expect(await repository.recordPayment(captureOf(order))).toMatchObject({ outcome: 'duplicate' });
});

test('money that has gone back pays no order and is not owed again, whatever its event says later', async () => {
  const { repository } = fixture;
  const { activity, order } = await pendingOrder();
  const refundId = '0198c0de-7000-7000-8000-00000000000b';
  const returned = { amountMinor: order.amountMinor, refundId, refundRef: 're-1' };
  expect(await repository.recordPayment(captureOf(order, { returned }))).toMatchObject({
    outcome: 'refunded',
    order: { status: 'PENDING', version: 1 },
  });
  expect(await repository.recordPayment(captureOf(order))).toMatchObject({ outcome: 'duplicate' });
  const timeline = await repository.readTimeline(order.id);
  expect(timeline?.payments).toMatchObject([
    { state: 'REFUNDED', refundRef: 're-1', refundedAt: expect.any(Date) },
  ]);
  expect(await repository.claimRefunds({ provider: 'any', limit: 100, leaseMs: 1_000 })).not.toContainEqual(
    expect.objectContaining({ orderId: order.id }),
  );
  expect((await repository.readActivity(activity.id))?.available).toBe(99);
  // Its buyer may still pay it.
  const another = captureOf(order, { eventId: `later-${order.id}`, paymentId: `later-${order.id}` });
  expect(await repository.recordPayment(another)).toMatchObject({ outcome: 'paid' });
});

test('a payment that was kept and is found to have gone back meanwhile no longer waits for its order', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const [whole, part] = [newOrder(activity), newOrder(activity)];
  for (const [order, amountMinor, outcome] of [
    [whole, whole.amountMinor, 'refunded'],
    [part, part.amountMinor - 1, 'quarantined'],
  ] as const) {
    const returned = { amountMinor, refundId: null, refundRef: null };
    expect(await repository.recordPayment(captureOf(order))).toEqual({ outcome: 'kept' });
    expect(await repository.recordPayment(captureOf(order, { returned }))).toEqual({ outcome });
    await repository.createOrders([order]);
    expect(await repository.recordPayment(captureOf(order))).toMatchObject({ outcome: 'duplicate' });
    expect((await repository.readOrder(order.id))?.status).toBe('PENDING');
  }
});

test('an order past its deadline that nobody has closed yet may still be paid, and is then never closed', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const [order] = await createDueOrders(repository, activity, 1);
  if (!order) throw new Error('an order was created');
  expect(await repository.recordPayment(captureOf(order))).toMatchObject({ outcome: 'paid' });
  expect(await repository.closeExpired([order.id], { cause: 'message' })).toMatchObject({
    settled: [order.id],
  });
});

test('a buyer cancels only an own pending order, once', async () => {
  const { repository } = fixture;
  const { activity, order } = await pendingOrder();
  expect(await repository.cancelOrder(order.id, 'somebody else')).toEqual({ kind: 'not_found' });
  const answers = await Promise.all([1, 2, 3].map(() => repository.cancelOrder(order.id, order.userId)));
  expect(answers.map(({ kind }) => kind).sort()).toEqual(['cancelled', 'not_pending', 'not_pending']);
  expect((await repository.readActivity(activity.id))?.available).toBe(100);
  const timeline = await repository.readTimeline(order.id);
  expect(timeline?.transitions.at(-1)).toMatchObject({
    toStatus: 'CANCELLED',
    cause: 'buyer',
    credit: 1,
    actor: order.userId,
  });
  // Its buyer did it: no notice that it closed.
  expect(timeline?.pendingEffects.map(({ kind }) => kind)).toEqual(['release']);
});

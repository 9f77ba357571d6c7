import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  captureOf,
  createActivity,
  createDueOrders,
  type Fixture,
  idsOf,
  newOrder,
  openFixture,
} from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

const byMessage = { cause: 'message' } as const;
/** Longest that one statement waits for a lock; see database.ts. */
const lockWaitMs = 3_000;
/** Less than a lock wait, with room for a busy machine. */
const promptMsMax = 2_000;

async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const startedAt = performance.now();
  const result = await work;
  return { result, ms: performance.now() - startedAt };
}

/** Many late captures of an activity that others keep locked, all at once, then a few more. */
test('late payments of a locked activity leave room for everybody: each fails after one lock wait, then at once', async () => {
  const { repository } = fixture;
  const locked = await createActivity(repository, { latePaymentPolicy: 'reacquire' });
  const free = await createActivity(repository);
  const late = await createDueOrders(repository, locked, 42);
  await repository.closeExpired(idsOf(late), byMessage);
  const holder = await fixture.lockActivity(locked.id);
  const pay = (order: (typeof late)[number]) => repository.recordPayment(captureOf(order));

  const burst = Promise.allSettled(late.slice(0, 40).map(pay));
  const created = await timed(repository.createOrders([newOrder(free)]));
  expect(created.result.results).toMatchObject([{ kind: 'created' }]);
  expect(created.ms).toBeLessThan(promptMsMax);
  const ends = await timed(burst);
  expect(ends.ms).toBeLessThan(2 * lockWaitMs + promptMsMax);
  for (const end of ends.result) {
    expect(end).toMatchObject({ status: 'rejected', reason: { code: 'LAPSE_MYSQL_UNAVAILABLE' } });
  }

  const then = await timed(Promise.allSettled(late.slice(40).map(pay)));
  expect(then.ms).toBeLessThan(promptMsMax);
  expect(then.result.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await holder.release();
  const outcomes = await Promise.all(late.map(pay));
  expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['reacquired']));
}, 30_000);

test('a buyer who sends a hundred requests about an order that stays locked takes no room for creates', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const order = newOrder(activity);
  await repository.createOrders([order]);
  const holder = await fixture.lockOrder(order.id);
  const wanted = { orderId: order.id, userId: order.userId, provider: 'simulator' };
  const calls = Array.from({ length: 100 }, (_, n) =>
    n % 2 === 0 ? repository.cancelOrder(order.id, order.userId) : repository.openAttempt(wanted),
  );
  const burst = timed(Promise.allSettled(calls));
  const created = await timed(repository.createOrders([newOrder(activity)]));
  expect(created.result.results).toMatchObject([{ kind: 'created' }]);
  expect(created.ms).toBeLessThan(promptMsMax);
  const { result, ms } = await burst;
  expect(ms).toBeLessThan(2 * lockWaitMs + promptMsMax);
  expect(new Set(result.map(({ status }) => status))).toEqual(new Set(['rejected']));
  await holder.release();
  expect(await repository.cancelOrder(order.id, order.userId)).toMatchObject({ kind: 'cancelled' });
}, 30_000);

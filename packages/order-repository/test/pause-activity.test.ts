import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Activity, NewOrder, PausedActivity, StoredAnswer } from '../src/index.ts';
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

const asked = { dryRun: false, actor: 'boss', reason: 'a wrong price' };
const answer = ({ changes }: PausedActivity): StoredAnswer => ({
  status: 200,
  body: Buffer.from(JSON.stringify({ changes })),
});
const pause = ({ id }: Pick<Activity, 'id'>, paused: boolean, change: object = {}) =>
  fixture.repository.setActivityPaused(id, paused, { ...asked, ...change }, answer);
const pausedAt = async ({ id }: Activity) => (await fixture.repository.readActivity(id))?.salePausedAt;
const outcomeOf = async (order: NewOrder) =>
  (await fixture.repository.recordPayment(captureOf(order))).outcome;
const actionsOf = async ({ id }: Activity) => {
  const rows = await fixture.query(
    "SELECT action FROM operator_action WHERE target_kind = 'activity' AND target = ? ORDER BY id",
    [String(id)],
  );
  return rows.map(({ action }) => action);
};

test('an activity sells until it is paused, and again once it is not; both are noted, each once', async () => {
  const activity = await createActivity(fixture.repository);
  expect(activity.salePausedAt).toBeNull();
  expect(await pause(activity, true)).toMatchObject({ kind: 'done', result: { changes: true } });
  const since = await pausedAt(activity);
  expect(Math.abs((since?.getTime() ?? 0) - fixture.repository.now())).toBeLessThan(5_000);
  expect(await pause(activity, true)).toMatchObject({ kind: 'done', result: { changes: false } });
  expect(await pausedAt(activity)).toEqual(since);
  expect(await pause(activity, false)).toMatchObject({
    kind: 'done',
    result: { changes: true, activity: { salePausedAt: null } },
  });
  expect(await pausedAt(activity)).toBeNull();
  expect(await actionsOf(activity)).toEqual(['activity.pause', 'activity.resume']);
});

test('a dry run says what would be, and changes nothing; no activity is not found', async () => {
  const activity = await createActivity(fixture.repository);
  expect(await pause(activity, true, { dryRun: true })).toMatchObject({
    kind: 'done',
    result: { changes: true, activity: { salePausedAt: null } },
  });
  expect([await pausedAt(activity), await actionsOf(activity)]).toEqual([null, []]);
  for (const dryRun of [true, false]) {
    expect(await pause({ id: activity.id + 999 }, true, { dryRun })).toEqual({
      kind: 'refused',
      result: { kind: 'not_found' },
    });
  }
});

test('with one key many requests pause once, and all get the same bytes', async () => {
  const activity = await createActivity(fixture.repository);
  const idempotency = { key: `pause-${activity.id}`, requestHash: Buffer.alloc(32, 3) };
  const all = await Promise.all(Array.from({ length: 8 }, () => pause(activity, true, { idempotency })));
  const bodies = all.map((result) => ('answer' in result ? result.answer.body.toString() : result.kind));
  expect(new Set(bodies)).toEqual(new Set(['{"changes":true}']));
  expect(await actionsOf(activity)).toEqual(['activity.pause']);
});

test('orders of a paused activity are reminded, paid and closed, and what was reserved before is written', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const due = await createDueOrders(repository, activity, 2);
  const [paid] = await createDueOrders(repository, activity, 1);
  if (!paid) throw new Error('no order');
  const reminded = newOrder(activity, { remindAt: new Date(Date.now() - 1_000) });
  await repository.createOrders([reminded]);
  await pause(activity, true);
  expect((await repository.remindPending([reminded.id])).reminded).toHaveLength(1);
  expect(await outcomeOf(paid)).toBe('paid');
  const { closed } = await repository.closeExpired(idsOf(due), { cause: 'message' });
  expect(closed).toHaveLength(2);
  const { results } = await repository.createOrders([newOrder(activity)]);
  expect(results.map(({ kind }) => kind)).toEqual(['created']);
});

test('money that comes after the close takes its place again in a paused activity: it has been paid for', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository, { latePaymentPolicy: 'reacquire' });
  const [order] = await createDueOrders(repository, activity, 1);
  if (!order) throw new Error('no order');
  await repository.closeExpired([order.id], { cause: 'message' });
  await pause(activity, true);
  expect(await outcomeOf(order)).toBe('reacquired');
  expect((await repository.readOrder(order.id))?.status).toBe('PAID');
});

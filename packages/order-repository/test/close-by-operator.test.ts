import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Activity, OperatorRequest } from '../src/index.ts';
import { createActivity, createDueOrders, type Fixture, newOrder, noAnswer, openFixture } from './fixture.ts';

let fixture: Fixture;
let activity: Activity;
beforeAll(async () => {
  fixture = await openFixture();
  activity = await createActivity(fixture.repository);
});
afterAll(() => fixture?.close());

const asBoss: OperatorRequest = { actor: 'boss', reason: 'no worker runs' };
const close = (id: string) => fixture.repository.closeByOperator(id, asBoss, noAnswer);
const available = async () => (await fixture.repository.readActivity(activity.id))?.available;
const actionsOf = (id: string) =>
  fixture.query('SELECT action, actor, reason FROM operator_action WHERE target = ?', [id]);

async function placeDue(): Promise<string> {
  const [order] = await createDueOrders(fixture.repository, activity, 1);
  return order?.id ?? '';
}

it('an order past its deadline closes once, whoever closes it at the same time, and says who did it', async () => {
  const before = (await available()) ?? 0;
  const id = await placeDue();
  const [mine, again, byMessage] = await Promise.all([
    close(id),
    close(id),
    fixture.repository.closeExpired([id], { cause: 'message' }),
  ]);
  const done = [mine.kind, again.kind].filter((kind) => kind === 'done').length;
  expect(done + byMessage.closed.length).toBe(1);
  expect(await available()).toBe(before);
  const timeline = await fixture.repository.readTimeline(id);
  expect(timeline?.transitions.map(({ toStatus }) => toStatus)).toEqual(['PENDING', 'TIMEOUT_CLOSED']);
  expect(await actionsOf(id)).toHaveLength(done);
});

it('closed alone, it keeps its operator, its notice and what Redis is owed', async () => {
  const id = await placeDue();
  const closed = await close(id);
  if (closed.kind !== 'done') throw new Error('it was due');
  expect(closed.result).toMatchObject({ order: { status: 'TIMEOUT_CLOSED' }, effect: { kind: 'release' } });
  expect(closed.result.latenessMs).toBeGreaterThanOrEqual(1_000);
  const timeline = await fixture.repository.readTimeline(id);
  expect(timeline?.transitions.at(-1)).toMatchObject({ cause: 'operator', actor: 'boss', credit: 1 });
  expect(timeline?.pendingEffects.map(({ kind }) => kind).sort()).toEqual(['closed_notice', 'release']);
  expect(await actionsOf(id)).toMatchObject([{ action: 'order.close', reason: 'no worker runs' }]);
});

it('nothing closes before its deadline by the database clock, not even by hand (I7)', async () => {
  const order = newOrder(activity);
  await fixture.repository.createOrders([order]);
  const refused = await close(order.id);
  expect(refused).toMatchObject({ kind: 'refused', result: { kind: 'not_due' } });
  expect((await fixture.repository.readOrder(order.id))?.status).toBe('PENDING');
  expect(await actionsOf(order.id)).toEqual([]);
});

it('an order that is being paid is left to its payment', async () => {
  const order = newOrder(activity);
  await fixture.repository.createOrders([order]);
  await fixture.repository.openAttempt({ orderId: order.id, userId: order.userId, provider: 'p' });
  await fixture.query('UPDATE orders SET expires_at = NOW(3) - INTERVAL 1 SECOND WHERE HEX(id) = ?', [
    order.id.replaceAll('-', ''),
  ]);
  expect(await close(order.id)).toMatchObject({ kind: 'refused', result: { kind: 'settling' } });
});

import { randomBytes } from 'node:crypto';
import { workInLanes } from '@lapse/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Activity, NewOrder, OperatorRequest } from '../src/index.ts';
import { captureOf, createActivity, type Fixture, newOrder, noAnswer, openFixture } from './fixture.ts';

let fixture: Fixture;
let activity: Activity;
beforeAll(async () => {
  fixture = await openFixture();
  activity = await createActivity(fixture.repository, { capacity: 1_000 });
});
afterAll(() => fixture?.close());

const racesAtOnce = 8;
const asBoss: OperatorRequest = { actor: 'boss', reason: 'the show is moved' };
const cancel = ({ id }: NewOrder, request = asBoss) =>
  fixture.repository.cancelByOperator(id, request, noAnswer);

async function place(): Promise<NewOrder> {
  const order = newOrder(activity);
  await fixture.repository.createOrders([order]);
  return order;
}
const actionsOf = ({ id }: NewOrder) =>
  fixture.query("SELECT action, reason FROM operator_action WHERE target_kind = 'order' AND target = ?", [
    id,
  ]);
const creditOf = async ({ id }: NewOrder) => {
  const timeline = await fixture.repository.readTimeline(id);
  return timeline?.transitions.reduce((sum, { credit }) => sum + credit, 0);
};

describe('an order cancelled by an operator', () => {
  it('is any buyer’s, gives its places back once, and keeps who did it and why', async () => {
    const order = await place();
    const before = (await fixture.repository.readActivity(activity.id))?.available ?? 0;
    const answers = await Promise.all([1, 2, 3].map(() => cancel(order)));
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['done', 'refused', 'refused']);
    expect((await fixture.repository.readActivity(activity.id))?.available).toBe(before + 1);
    const timeline = await fixture.repository.readTimeline(order.id);
    expect(timeline?.transitions.at(-1)).toMatchObject({
      toStatus: 'CANCELLED',
      cause: 'operator',
      credit: 1,
      actor: 'boss',
    });
    // Once: the two that found it cancelled did nothing.
    expect(await actionsOf(order)).toEqual([{ action: 'order.cancel', reason: 'the show is moved' }]);
  });

  it('is cancelled once per key: the repeat gets the first answer, another request with the key none', async () => {
    const [order, other] = [await place(), await place()];
    const withKey = { ...asBoss, idempotency: { key: 'k', requestHash: randomBytes(32) } };
    expect((await cancel(order, withKey)).kind).toBe('done');
    expect(await cancel(order, withKey)).toEqual({ kind: 'replayed', answer: noAnswer() });
    const reused = { ...asBoss, idempotency: { key: 'k', requestHash: randomBytes(32) } };
    expect(await cancel(other, reused)).toEqual({ kind: 'key_reused' });
    expect((await fixture.repository.readOrder(other.id))?.status).toBe('PENDING');
  });

  it('is refused where there is none, or it has ended', async () => {
    expect(await cancel(newOrder(activity))).toEqual({ kind: 'refused', result: { kind: 'not_found' } });
    const paid = await place();
    await fixture.repository.recordPayment(captureOf(paid));
    expect(await cancel(paid)).toMatchObject({
      kind: 'refused',
      result: { kind: 'not_pending', order: { status: 'PAID' } },
    });
    expect(await actionsOf(paid)).toEqual([]);
  });

  it('is not cancelled over the provider’s head: its payment is settled first, and then it is', async () => {
    const order = await place();
    const { repository } = fixture;
    const opened = await repository.openAttempt({ orderId: order.id, userId: order.userId, provider: 'p' });
    if (opened.kind !== 'open') throw new Error(opened.kind);
    expect(await cancel(order)).toEqual({ kind: 'refused', result: { kind: 'paying' } });
    expect((await repository.readOrder(order.id))?.status).toBe('PENDING');
    // Due now, not at the deadline: the refusal has committed that.
    const due = await repository.claimDueAttempts({ provider: 'p', limit: 10, leaseMs: 60_000 });
    expect(due.map(({ id }) => id)).toContain(opened.attempt.id);
    await repository.endAttempt(opened.attempt.id, 'CANCELLED');
    expect((await cancel(order)).kind).toBe('done');
  });

  it('waits for whoever holds the order, and decides by what they left', async () => {
    const order = await place();
    const lock = await fixture.lockOrder(order.id);
    let isOver = false;
    const cancelling = cancel(order).finally(() => {
      isOver = true;
    });
    const paying = fixture.repository.recordPayment(captureOf(order));
    expect(isOver).toBe(false);
    await lock.release();
    const [cancelled, paid] = await Promise.all([cancelling, paying]);
    expect([cancelled.kind, paid.outcome]).toEqual(
      cancelled.kind === 'done' ? ['done', 'refund_pending'] : ['refused', 'paid'],
    );
  });

  it('races a payment with one winner, and no money is without its order or its refund (I5, I6)', async () => {
    const orders = await Promise.all(Array.from({ length: 60 }, place));
    const wins = { cancel: 0, payment: 0 };
    // All at once would wait for their turn longer than a call may, on a busy machine.
    await workInLanes([...orders.entries()], racesAtOnce, async ([index, order]) => {
      const cancelling = () => cancel(order);
      const paying = () => fixture.repository.recordPayment(captureOf(order));
      // Neither is always first: a cancel locks the order at once, a payment after a round trip or two.
      const later = index % 3 === 0 ? paying() : fixture.repository.ping().then(cancelling);
      await Promise.all(index % 3 === 0 ? [cancelling(), later] : [paying(), later]);
      const { status } = (await fixture.repository.readOrder(order.id)) ?? {};
      const [payment] = (await fixture.repository.readTimeline(order.id))?.payments ?? [];
      const isCancelled = status === 'CANCELLED';
      wins[isCancelled ? 'cancel' : 'payment'] += 1;
      expect([status, payment?.state, await creditOf(order), (await actionsOf(order)).length]).toEqual(
        isCancelled ? ['CANCELLED', 'REFUND_PENDING', 1, 1] : ['PAID', 'CAPTURED', 0, 0],
      );
    });
    expect(wins.cancel).toBeGreaterThan(0);
    expect(wins.payment).toBeGreaterThan(0);
  });
});

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Activity, ExtendedOrder, NewOrder, OperatorRequest, StoredAnswer } from '../src/index.ts';
import { createActivity, createDueOrders, type Fixture, newOrder, openFixture } from './fixture.ts';

let fixture: Fixture;
let activity: Activity;
beforeAll(async () => {
  fixture = await openFixture();
  activity = await createActivity(fixture.repository, { capacity: 1_000 });
});
afterAll(() => fixture?.close());

const asBoss: OperatorRequest = { actor: 'boss', reason: 'the bank was slow' };
const answer = ({ order }: ExtendedOrder): StoredAnswer => ({
  status: 200,
  body: Buffer.from(`${order.id} until ${order.expiresAt.toISOString()}`),
});
const extend = (order: NewOrder, byMs: number, request = asBoss) =>
  fixture.repository.extendOrder(order.id, { byMs }, request, answer);
const bytesOf = (order: NewOrder) => Buffer.from(order.id.replaceAll('-', ''), 'hex');

async function place(change: Partial<NewOrder> = {}): Promise<NewOrder> {
  const order = newOrder(activity, change);
  await fixture.repository.createOrders([order]);
  return order;
}
const after = (time: Date, ms: number) => new Date(time.getTime() + ms);

describe('extending an order', () => {
  it('moves deadline and reminder by the same time, keeps what was answered first, and arms phase 1', async () => {
    const order = await place();
    const extended = await extend(order, 60_000);
    if (extended.kind !== 'done') throw new Error(extended.kind);
    const { outbox } = extended.result;
    const stored = await fixture.repository.readOrder(order.id);
    expect(stored).toEqual(extended.result.order);
    expect(stored).toMatchObject({
      expiresAt: after(order.expiresAt, 60_000),
      remindAt: after(order.remindAt, 60_000),
      firstExpiresAt: order.expiresAt,
      firstRemindAt: order.remindAt,
    });
    expect(outbox).toMatchObject({
      phase: 1,
      orders: [{ orderId: order.id, dueTime: order.remindAt.getTime() + 60_000 }],
    });
    const [row] = await fixture.query('SELECT sent_at FROM message_outbox WHERE id = ?', [
      Buffer.from(outbox.id.replaceAll('-', ''), 'hex'),
    ]);
    expect(row).toEqual({ sent_at: null });
    // Again: the first answer stays the first.
    await extend(order, 1_000);
    expect(await fixture.repository.readOrder(order.id)).toMatchObject({
      expiresAt: after(order.expiresAt, 61_000),
      firstExpiresAt: order.expiresAt,
    });
  });

  it('that was reminded arms phase 2, and leaves the reminder as it was', async () => {
    const order = await place({ remindAt: new Date(Date.now() - 1_000) });
    expect((await fixture.repository.remindPending([order.id])).reminded).toHaveLength(1);
    const extended = await extend(order, 60_000);
    expect(extended).toMatchObject({
      kind: 'done',
      result: {
        order: { remindAt: order.remindAt },
        outbox: { phase: 2, orders: [{ dueTime: order.expiresAt.getTime() + 60_000 }] },
      },
    });
  });

  it('moves the time at which an open payment is settled, and no other attempt', async () => {
    const order = await place();
    const settleUntil = after(order.expiresAt, 30_000);
    await fixture.query('UPDATE orders SET settle_until = ? WHERE id = ?', [settleUntil, bytesOf(order)]);
    for (const [name, state] of ['OPEN', 'CREATING', 'CANCELLED'].entries()) {
      await fixture.query(
        `INSERT INTO payment_attempt (id, order_id, provider, amount_minor, currency, state, created_at, settle_at)
         VALUES (?, ?, ?, 1, 'CNY', ?, NOW(3), ?)`,
        [randomBytes(16), bytesOf(order), `p${name}`, state, order.expiresAt],
      );
    }
    await extend(order, 90_000);
    const [row] = await fixture.query('SELECT settle_until FROM orders WHERE id = ?', [bytesOf(order)]);
    expect(row?.settle_until).toEqual(after(settleUntil, 90_000));
    const attempts = await fixture.query(
      'SELECT state, settle_at FROM payment_attempt WHERE order_id = ? ORDER BY provider',
      [bytesOf(order)],
    );
    const moved = after(order.expiresAt, 90_000);
    expect(attempts).toEqual([
      { state: 'OPEN', settle_at: moved },
      { state: 'CREATING', settle_at: moved },
      { state: 'CANCELLED', settle_at: order.expiresAt },
    ]);
  });

  it('notes who did it and why, in the same commit; a refusal notes nothing', async () => {
    const order = await place();
    await extend(order, 60_000);
    await fixture.repository.extendOrder(order.id, { until: order.createdAt }, asBoss, answer);
    const actions = await fixture.query(
      'SELECT actor, action, reason, detail FROM operator_action WHERE target_kind = ? AND target = ?',
      ['order', order.id],
    );
    expect(actions).toHaveLength(1);
    expect(actions[0]).toMatchObject({ action: 'order.extend', reason: 'the bank was slow' });
    expect(String(actions[0]?.actor)).toBe('boss');
    expect(JSON.parse(String(actions[0]?.detail))).toEqual({
      from: order.expiresAt.toISOString(),
      to: after(order.expiresAt, 60_000).toISOString(),
    });
  });

  it('is refused when it is not later, too late, over, or not there', async () => {
    const order = await place();
    const { repository } = fixture;
    const until = (time: Date) => repository.extendOrder(order.id, { until: time }, asBoss, answer);
    expect(await until(order.expiresAt)).toMatchObject({ kind: 'refused', result: { kind: 'not_later' } });
    const latest = after(order.createdAt, 30 * 86_400_000);
    expect(await until(after(latest, 1))).toEqual({ kind: 'refused', result: { kind: 'too_late', latest } });
    expect((await until(latest)).kind).toBe('done');
    await repository.cancelOrder(order.id, order.userId);
    expect(await extend(order, 1_000)).toMatchObject({ kind: 'refused', result: { kind: 'not_pending' } });
    const absent = newOrder(activity);
    expect(await extend(absent, 1_000)).toEqual({ kind: 'refused', result: { kind: 'not_found' } });
  });

  it('past its deadline must still reach into the future', async () => {
    const [order] = await createDueOrders(fixture.repository, activity, 1, 60_000);
    if (!order) throw new Error('no order');
    expect(await extend(order, 10_000)).toMatchObject({ kind: 'refused', result: { kind: 'not_later' } });
    expect((await extend(order, 120_000)).kind).toBe('done');
  });
});

describe('an order whose deadline moved', () => {
  it('is put off by its old messages, and closes at its new deadline (case 23)', async () => {
    const [order] = await createDueOrders(fixture.repository, activity, 1, 0);
    if (!order) throw new Error('no order');
    expect((await extend(order, 1_500)).kind).toBe('done');
    const remind = await fixture.repository.remindPending([order.id]);
    expect(remind.notDue).toEqual([{ orderId: order.id, dueInMs: expect.any(Number) }]);
    const early = await fixture.repository.closeExpired([order.id], { cause: 'message' });
    expect(early).toMatchObject({ closed: [], notDue: [{ orderId: order.id }] });
    await expect
      .poll(async () => (await fixture.repository.closeExpired([order.id], { cause: 'message' })).closed, {
        timeout: 10_000,
      })
      .toHaveLength(1);
    const [row] = await fixture.query('SELECT expires_at, closed_at FROM orders WHERE id = ?', [
      bytesOf(order),
    ]);
    expect(Number(row?.closed_at)).toBeGreaterThanOrEqual(Number(row?.expires_at));
    expect(row?.expires_at).toEqual(after(order.expiresAt, 1_500));
  });

  it('negative control: without the move the same old message closes it', async () => {
    const [order] = await createDueOrders(fixture.repository, activity, 1, 0);
    const { closed } = await fixture.repository.closeExpired([order?.id ?? ''], { cause: 'message' });
    expect(closed).toHaveLength(1);
  });

  it('at the same moment as a close: exactly one of the two wins, 200 times', async () => {
    const other = await fixture.openAnother();
    const orders = await createDueOrders(fixture.repository, activity, 200, 0);
    const outcomes: string[] = [];
    const race = async (order: NewOrder, index: number) => {
      const close = () => other.closeExpired([order.id], { cause: 'message' });
      const first = index % 2 === 0 ? close() : undefined;
      const [extended, closed] = await Promise.all([extend(order, 600_000), first ?? close()]);
      outcomes.push(`${extended.kind} ${closed.closed.length}`);
    };
    // Twenty at a time: more would wait for the pool, not for each other.
    for (let at = 0; at < orders.length; at += 20) await Promise.all(orders.slice(at, at + 20).map(race));
    expect(outcomes).toHaveLength(200);
    expect(new Set(outcomes)).toEqual(new Set(['done 0', 'refused 1']));
  });
});

describe('the idempotency key of an operator', () => {
  const withKey = (key: string, change: Partial<OperatorRequest> = {}, hash = 1): OperatorRequest => ({
    ...asBoss,
    idempotency: { key, requestHash: Buffer.alloc(32, hash) },
    ...change,
  });

  it('repeats the first answer byte for byte, and changes nothing again', async () => {
    const order = await place();
    const first = await extend(order, 60_000, withKey('a'));
    const second = await extend(order, 60_000, withKey('a'));
    if (first.kind !== 'done') throw new Error(first.kind);
    expect(second).toEqual({ kind: 'replayed', answer: first.answer });
    expect((await fixture.repository.readOrder(order.id))?.expiresAt).toEqual(after(order.expiresAt, 60_000));
  });

  it('negative control: without a key the repeat extends again', async () => {
    const order = await place();
    await extend(order, 60_000);
    await extend(order, 60_000);
    expect((await fixture.repository.readOrder(order.id))?.expiresAt).toEqual(
      after(order.expiresAt, 120_000),
    );
  });

  it('with another request is told so; with another operator it is another key', async () => {
    const order = await place();
    await extend(order, 1_000, withKey('b'));
    expect(await extend(order, 2_000, withKey('b', {}, 2))).toEqual({ kind: 'key_reused' });
    expect((await extend(order, 2_000, withKey('b', { actor: 'chief' }, 2))).kind).toBe('done');
  });

  it('sent 20 times at once makes one change and 20 equal answers', async () => {
    const order = await place();
    const other = await fixture.openAnother();
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? fixture.repository : other).extendOrder(order.id, { byMs: 5_000 }, withKey('c'), answer),
      ),
    );
    expect(results.filter(({ kind }) => kind === 'done')).toHaveLength(1);
    expect(new Set(results.map((result) => ('answer' in result ? String(result.answer.body) : '')))).toEqual(
      new Set([`${order.id} until ${after(order.expiresAt, 5_000).toISOString()}`]),
    );
  });

  it('is free again after a refusal, which changed nothing', async () => {
    const order = await place();
    const request = withKey('d');
    const { repository } = fixture;
    expect((await repository.extendOrder(order.id, { byMs: -1 }, request, answer)).kind).toBe('refused');
    expect((await extend(order, 1_000, request)).kind).toBe('done');
  });

  it('is taken only together with its change: a failure in between leaves neither', async () => {
    const order = await place();
    const failing = (): StoredAnswer => {
      throw new Error('the process broke here');
    };
    const { repository } = fixture;
    await expect(repository.extendOrder(order.id, { byMs: 1_000 }, withKey('e'), failing)).rejects.toThrow(
      'broke here',
    );
    expect((await repository.readOrder(order.id))?.expiresAt).toEqual(order.expiresAt);
    expect((await extend(order, 1_000, withKey('e'))).kind).toBe('done');
  });
});

import { queryDatabase } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../src/database.ts';
import { type OrderViews, openOrderViews } from '../src/index.ts';
import {
  collectLog,
  createActivity,
  createDueOrders,
  type Fixture,
  newOrder,
  noAnswer,
  openFixture,
} from './fixture.ts';

let fixture: Fixture;
let views: OrderViews;
const log = collectLog([]);
beforeAll(async () => {
  fixture = await openFixture();
  views = await openOrderViews({ url: fixture.url, poolMax: 4, queryTimeoutMs: 10_000 }, log);
});
afterAll(async () => {
  await views.close();
  await fixture.close();
});

describe('the page’s view of MySQL', () => {
  it('MySQL refuses a write over its connections, and takes it over others: the guard is the session', async () => {
    const id = await createActivity(fixture.repository).then((activity) => activity.id);
    const write = async (readOnly: boolean) => {
      const database = openDatabase({ url: fixture.url, poolMax: 1, queryTimeoutMs: 5_000, readOnly }, log);
      try {
        return await database.withSession((session) =>
          session.run("UPDATE activity SET name = 'written' WHERE id = ?", [id]),
        );
      } finally {
        await database.close();
      }
    };
    await expect(write(true)).rejects.toMatchObject({ errno: 1792 });
    expect((await write(false)).affectedRows).toBe(1);
  });

  it('watched orders come in the order asked for, with their activity’s name; an unknown one is a gap', async () => {
    const activity = await createActivity(fixture.repository);
    const orders = [newOrder(activity), newOrder(activity)];
    await fixture.repository.createOrders(orders);
    const [first, second] = orders.map(({ id }) => id);
    const unknown = '0198c0de-7000-7000-8000-000000000001';
    const found = await views.watchOrders([second ?? '', unknown, first ?? '']);
    expect(found.map((order) => order?.id)).toEqual([second, undefined, first]);
    expect(found[0]).toMatchObject({
      activityName: activity.name,
      status: 'PENDING',
      isBeingPaid: false,
      refund: null,
    });
  });

  it('deadlines, minutes and states count every pending order once', async () => {
    const activity = await createActivity(fixture.repository);
    const before = await views.countByStatus({ sinceMs: 3_600_000 });
    const order = newOrder(activity);
    await fixture.repository.createOrders([order]);
    const after = await views.countByStatus({ sinceMs: 3_600_000 });
    expect(after.PENDING).toBe(before.PENDING + 1);
    const { deadlines, cut } = await views.readDueDeadlines(5_000);
    expect(cut).toBe(false);
    expect(deadlines.filter(({ activityId }) => activityId === activity.id)).toEqual([
      { activityId: activity.id, expiresAt: order.expiresAt, quantity: order.quantity },
    ]);
    const minutes = await views.countDueMinutes(60 * 24 * 30);
    expect(minutes.reduce((sum, { orders }) => sum + orders, 0)).toBe(after.PENDING);
    expect((await views.readDueDeadlines(1)).cut).toBe(true);
  });

  it('what closed late is measured, and orders are found by user, activity, status and number', async () => {
    const activity = await createActivity(fixture.repository);
    const due = await createDueOrders(fixture.repository, activity, 3);
    const ids = due.map(({ id }) => id);
    await fixture.repository.closeExpired(ids, { cause: 'message' });
    const late = await views.readLateness({ sinceMs: 86_400_000, limit: 100 });
    expect(late.length).toBeGreaterThanOrEqual(3);
    for (const ms of late) expect(ms).toBeGreaterThanOrEqual(0);
    const [one] = due;
    if (one === undefined) throw new Error('no order');
    const idsOf = async (filter: Parameters<OrderViews['listSummaries']>[0]) =>
      (await views.listSummaries(filter, 200)).map(({ id }) => id);
    expect(await idsOf({ by: 'order', id: one.id })).toEqual([one.id]);
    expect(await idsOf({ by: 'user', userId: one.userId })).toEqual([one.id]);
    expect(await idsOf({ by: 'status', status: 'TIMEOUT_CLOSED' })).toEqual(expect.arrayContaining(ids));
    expect(await idsOf({ by: 'activity', activityId: activity.id })).toEqual([]);
    const latest = await idsOf({ by: 'late', sinceMs: 86_400_000 });
    expect(latest).toEqual(expect.arrayContaining(ids));
    expect(await idsOf({ by: 'late', sinceMs: 0 })).toEqual([]);
    const [longest] = await views.watchOrders(latest.slice(0, 1));
    expect(Number(longest?.closedAt) - Number(longest?.expiresAt)).toBe(Math.max(...late));
  });

  it('lateness is of what messages and sweeps closed, as the metric counts: not of what the settler or a hand closed', async () => {
    const activity = await createActivity(fixture.repository);
    const { repository } = fixture;
    const [byMessage, bySettler, byHand] = await createDueOrders(repository, activity, 3);
    if (!byMessage || !bySettler || !byHand) throw new Error('no orders');
    await repository.closeExpired([byMessage.id], { cause: 'message' });
    await repository.closeExpired([bySettler.id], { cause: 'settle' });
    await repository.closeByOperator(byHand.id, { actor: 'boss', reason: 'of the test' }, noAnswer);
    // One whose card was declined in time, and one whose provider had said nothing when the grace was over.
    const [declined, undecided] = [newOrder(activity), newOrder(activity)];
    await repository.createOrders([declined, undecided]);
    for (const { id, userId } of [declined, undecided]) {
      const opened = await repository.openAttempt({ orderId: id, userId, provider: 'p' });
      if (opened.kind !== 'open') throw new Error(opened.kind);
      if (id === declined.id) await repository.endAttempt(opened.attempt.id, 'FAILED', 'declined');
    }
    await queryDatabase(
      fixture.url,
      `UPDATE orders SET expires_at = NOW(3) - INTERVAL 31 SECOND, settle_until = settle_until - INTERVAL 1 HOUR
       WHERE activity_id = ? AND status = 'PENDING'`,
      [activity.id],
    );
    await repository.closeExpired([declined.id], { cause: 'message' });
    await repository.closeExpired([undecided.id], { cause: 'sweep' });
    const since = { sinceMs: 86_400_000 };
    const listed = await views.listSummaries({ by: 'late', ...since }, 200);
    const ids = listed.filter(({ activityId }) => activityId === activity.id).map(({ id }) => id);
    expect(ids.sort()).toEqual([byMessage.id, declined.id, undecided.id].sort());
    expect(await views.readLateness({ ...since, limit: 200 })).toHaveLength(listed.length);
  });

  it('the held and the sold places of an activity have a list each', async () => {
    const activity = await createActivity(fixture.repository);
    const [held, sold] = [newOrder(activity), newOrder(activity)];
    await fixture.repository.createOrders([held, sold]);
    await queryDatabase(
      fixture.url,
      "UPDATE orders SET status = 'PAID' WHERE id = UNHEX(REPLACE(?, '-', ''))",
      [sold.id],
    );
    const of = async (status?: 'PENDING' | 'PAID') => {
      const filter = { by: 'activity', activityId: activity.id, ...(status && { status }) } as const;
      return (await views.listSummaries(filter, 200)).map(({ id }) => id);
    };
    expect([await of('PENDING'), await of('PAID')]).toEqual([[held.id], [sold.id]]);
    expect((await of()).sort()).toEqual([held.id, sold.id].sort());
  });

  it('counts what waits', async () => {
    const before = await views.readWorkToDo();
    const activity = await createActivity(fixture.repository);
    await fixture.repository.createOrders([newOrder(activity)]);
    expect((await views.readWorkToDo()).outbox.rows).toBe(before.outbox.rows + 1);
    expect((await views.listWaiting('outbox', 200)).at(-1)).toMatchObject({ what: 'reminder', orders: 1 });
    await fixture.repository.parkMessage({
      messageId: 'm-1',
      phase: 1,
      reason: 'unreadable',
      body: Buffer.from('x'),
    });
    expect((await views.readWorkToDo()).parked).toEqual({
      ...before.parked,
      messages: before.parked.messages + 1,
    });
  });

  it('tells effects by kind, so that what Redis lacks is not taken for what buyers or the shop are still to hear', async () => {
    const before = (await views.readWorkToDo()).effects;
    const activity = await createActivity(fixture.repository);
    const order = newOrder(activity);
    await fixture.repository.createOrders([order]);
    await fixture.repository.cancelOrder(order.id, order.userId);
    const { rows, byKind } = (await views.readWorkToDo()).effects;
    expect(byKind.release.rows).toBe(before.byKind.release.rows + 1);
    expect(byKind.shop_event).toEqual(before.byKind.shop_event);
    expect(rows).toBe(Object.values(byKind).reduce((sum, kind) => sum + kind.rows, 0));
  });

  it.each(['outbox', 'effects', 'notices'] as const)(
    'lists as many rows of %s as it counts',
    async (kind) => {
      const { outbox, effects, notices } = await views.readWorkToDo();
      const counted = { outbox: outbox.rows, effects: effects.rows, notices: notices.failing }[kind];
      expect(await views.listWaiting(kind, 10_000)).toHaveLength(counted);
    },
  );
});

import { waitUntil } from '@lapse/testing';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CloseResult } from '../src/index.ts';
import {
  captureOf,
  createActivity,
  createDueOrders,
  type Fixture,
  idsOf,
  innodbLookMs,
  newOrder,
  openFixture,
} from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

const byMessage = { cause: 'message' } as const;
const closedIds = (results: readonly CloseResult[]) =>
  results.flatMap(({ closed }) => closed.map(({ orderId }) => orderId));

/** MySQL's own account of an activity: places free, credits in the ledger, and close transitions. */
async function accountOf(activityId: number) {
  const [activity] = await fixture.query('SELECT capacity, available FROM activity WHERE id = ?', [
    activityId,
  ]);
  const [ledger] = await fixture.query(
    `SELECT COALESCE(SUM(credit), 0) AS credit, COUNT(*) AS closes, COUNT(DISTINCT order_id) AS orders
     FROM order_transition WHERE activity_id = ? AND to_status <> 'PENDING' AND credit > 0`,
    [activityId],
  );
  const [active] = await fixture.query(
    "SELECT COALESCE(SUM(quantity), 0) AS held FROM orders WHERE activity_id = ? AND status IN ('PENDING', 'PAID')",
    [activityId],
  );
  return {
    available: Number(activity?.available),
    free: Number(activity?.capacity) - Number(active?.held),
    credit: Number(ledger?.credit),
    closes: Number(ledger?.closes),
    orders: Number(ledger?.orders),
  };
}

test('due orders of several activities close once, with one credit and one release each', async () => {
  const { repository } = fixture;
  const [a, b] = [await createActivity(repository), await createActivity(repository)];
  const orders = [
    ...(await createDueOrders(repository, a, 30)),
    ...(await createDueOrders(repository, b, 12)),
  ];
  const result = await repository.closeExpired(idsOf(orders), byMessage);
  expect(closedIds([result]).sort()).toEqual(idsOf(orders).sort());
  expect(result.closed[0]?.latenessMs).toBeGreaterThanOrEqual(1_000);
  expect(result.effects.map(({ kind, activityId, orderIds }) => [kind, activityId, orderIds.length])).toEqual(
    [
      ['release', a.id, 30],
      ['release', b.id, 12],
    ],
  );
  expect(await accountOf(a.id)).toEqual({ available: 100, free: 100, credit: 30, closes: 30, orders: 30 });
  expect(await accountOf(b.id)).toEqual({ available: 100, free: 100, credit: 12, closes: 12, orders: 12 });

  const again = await repository.closeExpired(idsOf(orders), byMessage);
  expect(again).toMatchObject({ closed: [], effects: [], contended: [] });
  expect([...again.settled].sort()).toEqual(idsOf(orders).sort());
  expect((await accountOf(a.id)).available).toBe(100);
});

test('nothing closes before its deadline by the database clock, however early the message', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const soon = newOrder(activity, { expiresAt: new Date(Date.now() + 700) });
  await repository.createOrders([soon]);
  const early = await repository.closeExpired([soon.id], byMessage);
  expect(early.closed).toEqual([]);
  const [{ dueInMs } = { dueInMs: 0 }] = early.notDue;
  expect(dueInMs).toBeGreaterThan(0);
  expect(dueInMs).toBeLessThanOrEqual(800);
  let tries = 0;
  for (;;) {
    tries += 1;
    const { closed, notDue, contended } = await repository.closeExpired([soon.id], byMessage);
    if (closed.length === 1) break;
    // Contended: it became due between the locking read and the one that says why it was passed over.
    expect(notDue.length + contended.length).toBe(1);
  }
  expect(tries).toBeGreaterThan(1);
  const order = await repository.readOrder(soon.id);
  expect(order?.closedAt?.getTime()).toBeGreaterThanOrEqual(soon.expiresAt.getTime());
});

test('an order whose deadline moved is not closed, and can be armed again for its new time', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const [order] = await createDueOrders(repository, activity, 1);
  const moved = new Date(Date.now() + 300_000);
  await fixture.query('UPDATE orders SET expires_at = ? WHERE activity_id = ?', [moved, activity.id]);
  const id = order?.id ?? '';
  const result = await repository.closeExpired([id], byMessage);
  expect(result).toMatchObject({ closed: [], settled: [], notDue: [{ orderId: id }] });
  const outbox = await repository.rearm(2, [id]);
  expect(outbox).toMatchObject({ phase: 2, orders: [{ orderId: id, dueTime: moved.getTime() }] });
  const timeline = await repository.readTimeline(id);
  expect(timeline?.messages.map(({ outboxId }) => outboxId)).toContain(outbox?.id);
});

test('every id of a batch is answered once: closed, not due, settled, unknown, contended', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const [due, locked, paid] = await createDueOrders(repository, activity, 3);
  const future = newOrder(activity);
  await repository.createOrders([future]);
  if (!due || !locked || !paid) throw new Error('three orders were created');
  await repository.recordPayment(captureOf(paid));
  const absent = newOrder(activity);
  const holder = await fixture.lockOrder(locked.id);
  const ids = [absent.id, future.id, paid.id, locked.id, due.id];
  const result = await repository.closeExpired([...ids, due.id], byMessage);
  await holder.release();
  expect(closedIds([result])).toEqual([due.id]);
  expect(result.notDue.map(({ orderId }) => orderId)).toEqual([future.id]);
  expect(result.settled).toEqual([paid.id]);
  expect(result.unknown).toEqual([absent.id]);
  expect(result.contended).toEqual([locked.id]);
  expect(closedIds([await repository.closeExpired([locked.id], byMessage)])).toEqual([locked.id]);
});

test('case 1: a payment and a close at the deadline, 1,000 times: exactly one wins, and stock follows the winner', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository, { capacity: 1_000 });
  const orders = await createDueOrders(repository, activity, 1_000, 0);
  const payer = await fixture.openAnother();
  const paid: string[] = [];
  const refunded: string[] = [];
  const closed: string[] = [];
  const payAll = async (from: number) => {
    for (let index = from; index < orders.length; index += 4) {
      const order = orders[index];
      if (!order) continue;
      const { outcome } = await payer.recordPayment(captureOf(order));
      (outcome === 'paid' ? paid : refunded).push(order.id);
    }
  };
  const closeAll = async () => {
    // From the other end, in small batches, again and again until nothing is open.
    let open = idsOf(orders).reverse();
    while (open.length > 0) {
      const retry: string[] = [];
      for (let start = 0; start < open.length; start += 20) {
        const result = await repository.closeExpired(open.slice(start, start + 20), byMessage);
        closed.push(...closedIds([result]));
        retry.push(...result.contended, ...result.notDue.map(({ orderId }) => orderId));
      }
      open = retry;
    }
  };
  await Promise.all([payAll(0), payAll(1), payAll(2), payAll(3), closeAll()]);
  expect(paid.length + closed.length).toBe(1_000);
  expect(new Set([...paid, ...closed]).size).toBe(1_000);
  expect([...refunded].sort()).toEqual([...closed].sort());
  // Without both sides winning some, nothing was raced.
  expect(paid.length).toBeGreaterThan(0);
  expect(closed.length).toBeGreaterThan(0);
  const account = await accountOf(activity.id);
  expect(account).toMatchObject({ available: account.free, credit: closed.length, closes: closed.length });
  expect(account.available).toBe(1_000 - paid.length);
});

test('four sweepers and a closer over the same 200 orders: 200 transitions, 200 credits', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository, { capacity: 1_000 });
  const orders = await createDueOrders(repository, activity, 200);
  const replicas = [
    repository,
    await fixture.openAnother(),
    await fixture.openAnother(),
    await fixture.openAnother(),
  ];
  const sweep = async (replica: typeof repository) => {
    const results: CloseResult[] = [];
    for (let idle = 0; idle < 3; ) {
      const result = await replica.closeOverdue({ graceMs: 0, limit: 17 });
      results.push(result);
      idle = result.found === 0 ? idle + 1 : 0;
    }
    return results;
  };
  const close = async () => {
    const results: CloseResult[] = [];
    for (let open: readonly string[] = idsOf(orders); open.length > 0; ) {
      const batch = open.slice(0, 50);
      const result = await repository.closeExpired(batch, byMessage);
      results.push(result);
      open = [...open.slice(50), ...result.contended];
    }
    return results;
  };
  const results = (await Promise.all([...replicas.map(sweep), close()])).flat();
  const closed = closedIds(results);
  expect(closed).toHaveLength(200);
  expect(new Set(closed).size).toBe(200);
  expect(await accountOf(activity.id)).toEqual({
    available: 1_000,
    free: 1_000,
    credit: 200,
    closes: 200,
    orders: 200,
  });
  expect(results.flatMap(({ effects }) => effects.flatMap(({ orderIds }) => orderIds))).toHaveLength(200);
});

test('buyers cancelling while the closer closes: one end each, one credit each', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository, { capacity: 1_000 });
  const orders = await createDueOrders(repository, activity, 200);
  const [cancels, ...closes] = await Promise.all([
    Promise.all(orders.map((order) => repository.cancelOrder(order.id, order.userId))),
    repository.closeExpired(idsOf(orders.slice(0, 100)), byMessage),
    repository.closeExpired(idsOf(orders.slice(100)), byMessage),
  ]);
  const cancelled = cancels.filter(({ kind }) => kind === 'cancelled').length;
  expect(cancelled + closedIds(closes).length).toBe(200);
  expect(await accountOf(activity.id)).toMatchObject({
    available: 1_000,
    free: 1_000,
    credit: 200,
    orders: 200,
  });
});

test('shuffled, overlapping batches on several activities end without deadlock errors, counts exact', async () => {
  const { repository } = fixture;
  const activities = await Promise.all([1, 2, 3].map(() => createActivity(repository, { capacity: 1_000 })));
  const orders = (await Promise.all(activities.map((a) => createDueOrders(repository, a, 200)))).flat();
  const shuffled = () => idsOf(orders).sort(() => Math.random() - 0.5);
  const batches = Array.from({ length: 6 }, shuffled);
  const results = await Promise.all(batches.map((ids) => repository.closeExpired(ids, byMessage)));
  const closed = closedIds(results);
  expect(new Set(closed).size).toBe(closed.length);
  const rest = await repository.closeExpired(idsOf(orders), byMessage);
  expect(closed.length + rest.closed.length).toBe(600);
  for (const { id } of activities) {
    expect(await accountOf(id)).toMatchObject({ available: 1_000, free: 1_000, credit: 200 });
  }
});

test('too many ids, or an id that is none, is refused before MySQL is asked', async () => {
  const { repository } = fixture;
  const ids = Array.from({ length: 2_001 }, () => '01976f00-0000-7000-8000-000000000000');
  await expect(repository.closeExpired(ids, byMessage)).rejects.toThrow(RangeError);
  await expect(repository.closeExpired(['01976F00-0000-7000-8000-000000000000'], byMessage)).rejects.toThrow(
    /lower-case UUID/,
  );
  expect(await repository.closeExpired([], byMessage)).toMatchObject({ closed: [], unknown: [] });
});

test('an order closes after whatever was committed to it before: a reminder that its close waited for is not later', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const [order] = await createDueOrders(repository, activity, 1);
  const id = Buffer.from((order?.id ?? '').replaceAll('-', ''), 'hex');
  const reminder = await createConnection({ uri: fixture.url, timezone: 'Z' });
  await reminder.query('START TRANSACTION');
  await reminder.query('SELECT id FROM orders WHERE id = ? FOR UPDATE', [id]);
  const closing = repository.cancelOrder(order?.id ?? '', order?.userId ?? '');
  await waitUntil(
    async () => {
      const waiting = await fixture.query(
        `SELECT t.trx_id FROM information_schema.innodb_trx t
         JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
         WHERE p.db = DATABASE() AND t.trx_state = 'LOCK WAIT'`,
      );
      return waiting.length > 0;
    },
    { what: 'the close to wait for the reminder', everyMs: innodbLookMs },
  );
  await reminder.query("SET time_zone = '+00:00'");
  await reminder.query('UPDATE orders SET reminded_at = NOW(3) WHERE id = ?', [id]);
  await reminder.query('COMMIT');
  await reminder.end();
  expect(await closing).toMatchObject({ kind: 'cancelled' });
  const [row] = await fixture.query('SELECT closed_at >= reminded_at AS follows FROM orders WHERE id = ?', [
    id,
  ]);
  expect(row).toEqual({ follows: 1 });
});

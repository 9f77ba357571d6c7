import { waitUntil } from '@lapse/testing';
import { afterAll, beforeEach, expect, test } from 'vitest';
import {
  captureOf,
  createActivity,
  createDueOrders,
  type Fixture,
  idsOf,
  newOrder,
  openFixture,
} from './fixture.ts';

let fixture: Fixture | undefined;
let current: Fixture;
// Claims see the whole database, so each test has its own.
beforeEach(async () => {
  await fixture?.close();
  current = await openFixture();
  fixture = current;
});
afterAll(() => fixture?.close());

const past = (ms: number) => new Date(Date.now() - ms);

async function remindable(count: number) {
  const activity = await createActivity(current.repository);
  const orders = Array.from({ length: count }, () => newOrder(activity, { remindAt: past(50) }));
  await current.repository.createOrders(orders);
  return { activity, orders };
}

test('ten orders, each message three times, shuffled, at once: ten reminders and ten notices', async () => {
  const { repository } = current;
  const { orders } = await remindable(10);
  const deliveries = Array.from({ length: 3 }, () => idsOf(orders).sort(() => Math.random() - 0.5)).flat();
  const results = await Promise.all(deliveries.map((id) => repository.remindPending([id])));
  const reminded = results.flatMap((result) => result.reminded.map(({ orderId }) => orderId));
  expect(reminded.sort()).toEqual(idsOf(orders).sort());
  const jobs = await repository.claimNotifications({ limit: 100, leaseMs: 10_000 });
  expect(jobs.map(({ stage, orderId }) => `${stage} ${orderId}`).sort()).toEqual(
    idsOf(orders)
      .map((id) => `REMINDER ${id}`)
      .sort(),
  );
});

test('a reminder brings the phase 2 message, due at the deadline', async () => {
  const { repository } = current;
  const { orders } = await remindable(3);
  const { outbox, reminded } = await repository.remindPending(idsOf(orders));
  expect(reminded).toHaveLength(3);
  expect(reminded[0]?.latenessMs).toBeGreaterThanOrEqual(50);
  expect(outbox).toMatchObject({ phase: 2 });
  expect(outbox?.orders.map(({ orderId, dueTime }) => [orderId, dueTime])).toEqual(
    orders.map(({ id, expiresAt }) => [id, expiresAt.getTime()]),
  );
  const timeline = await repository.readTimeline(orders[0]?.id ?? '');
  expect(timeline?.messages.map(({ phase }) => phase)).toEqual([1, 2]);
  expect(timeline?.notifications).toMatchObject([{ stage: 'REMINDER', state: 'WAITING' }]);
  expect(timeline?.order.remindedAt).toBeInstanceOf(Date);
});

test('no reminder for an order that is paid, not due, or past its deadline; the last still gets phase 2', async () => {
  const { repository } = current;
  const activity = await createActivity(repository);
  const paid = newOrder(activity, { remindAt: past(50) });
  const early = newOrder(activity);
  await repository.createOrders([paid, early]);
  await repository.recordPayment(captureOf(paid));
  const [overdue] = await createDueOrders(repository, activity, 1);
  if (!overdue) throw new Error('an order was created');
  const result = await repository.remindPending([paid.id, early.id, overdue.id]);
  expect(result.settled).toEqual([paid.id]);
  expect(result.notDue.map(({ orderId }) => orderId)).toEqual([early.id]);
  expect(result.reminded.map(({ orderId }) => orderId)).toEqual([overdue.id]);
  expect(result.outbox?.orders).toHaveLength(1);
  expect(await repository.claimNotifications({ limit: 10, leaseMs: 1_000 })).toEqual([]);
});

test('the timeline shows when the order itself is due, wherever the sweep of reminders has come in its message', async () => {
  const { repository } = current;
  const activity = await createActivity(repository);
  const [due, later] = [newOrder(activity, { remindAt: past(50) }), newOrder(activity)];
  await repository.createOrders([due, later]);
  await repository.sweepReminders({ graceMs: 0, after: null });
  for (const { id, remindAt } of [due, later]) {
    const [message] = (await repository.readTimeline(id))?.messages ?? [];
    expect(message).toMatchObject({ phase: 1, dueAt: remindAt });
  }
});

test('a claimed notice is in one pair of hands until its lease ends, and carries what its text needs', async () => {
  const { repository } = current;
  const { orders, activity } = await remindable(20);
  await repository.remindPending(idsOf(orders));
  const claims = await Promise.all(
    [1, 2, 3, 4].map(() => repository.claimNotifications({ limit: 20, leaseMs: 300 })),
  );
  const jobs = claims.flat();
  expect(jobs).toHaveLength(20);
  expect(jobs[0]).toMatchObject({
    activityName: activity.name,
    status: 'PENDING',
    attempts: 1,
    locale: 'en',
  });
  const [sent, waiting, parked, skipped, ...rest] = jobs;
  if (!sent || !waiting || !parked || !skipped) throw new Error('twenty were claimed');
  await repository.finishNotifications([
    { claim: sent, outcome: { state: 'SENT' } },
    { claim: waiting, outcome: { state: 'WAITING', retryInMs: 60_000, error: 'busy' } },
    { claim: parked, outcome: { state: 'PARKED', error: 'refused' } },
    { claim: skipped, outcome: { state: 'SKIPPED' } },
  ]);
  const [unbegun] = rest;
  if (unbegun) {
    // As a process does that is told to stop before this one's turn came: no try is counted.
    const outcome = { state: 'WAITING', retryInMs: 0, error: 'stopping', untried: true } as const;
    await repository.finishNotifications([{ claim: unbegun, outcome }]);
  }
  // Late, from somebody whose lease is over: what is finished stays finished.
  await repository.finishNotifications([{ claim: sent, outcome: { state: 'PARKED', error: 'late' } }]);
  const again: string[] = [];
  await waitUntil(
    async () => {
      again.push(
        ...(await repository.claimNotifications({ limit: 20, leaseMs: 60_000 })).map((job) => {
          expect(job.attempts).toBe(2);
          expect(job.tries).toBe(job.orderId === unbegun?.orderId ? 1 : 2);
          return job.orderId;
        }),
      );
      return again.length >= rest.length;
    },
    { what: 'the leases to end' },
  );
  expect(again.sort()).toEqual(rest.map(({ orderId }) => orderId).sort());
  const [state] = (await repository.readTimeline(sent.orderId))?.notifications ?? [];
  expect(state).toMatchObject({ state: 'SENT', attempts: 1 });
});

test('closed orders get one notice each, however often and by however many the effects are expanded', async () => {
  const { repository } = current;
  const activity = await createActivity(repository);
  const orders = await createDueOrders(repository, activity, 30);
  for (let start = 0; start < 30; start += 10) {
    await repository.closeExpired(idsOf(orders.slice(start, start + 10)), { cause: 'message' });
  }
  const done = await Promise.all([1, 2, 3, 4].map(() => repository.expandClosedNotices(10)));
  expect(done.reduce((sum, count) => sum + count)).toBe(3);
  const jobs = await repository.claimNotifications({ limit: 100, leaseMs: 1_000 });
  expect(jobs.filter(({ stage }) => stage === 'CLOSED')).toHaveLength(30);
  expect(await repository.expandClosedNotices(10)).toBe(0);
});

test('a backlog of closed notices never delays a reminder: reminders are claimed first', async () => {
  const { repository } = current;
  const activity = await createActivity(repository);
  const closed = await createDueOrders(repository, activity, 12);
  await repository.closeExpired(idsOf(closed), { cause: 'message' });
  await repository.expandClosedNotices(10);
  const { orders } = await remindable(1);
  await repository.remindPending(idsOf(orders));
  const [first, ...others] = await repository.claimNotifications({ limit: 3, leaseMs: 60_000 });
  expect(first).toMatchObject({ stage: 'REMINDER', orderId: orders[0]?.id });
  expect(others.map(({ stage }) => stage)).toEqual(['CLOSED', 'CLOSED']);
});

test('a locked order keeps its row in the sweep of reminders, and holds up no other', async () => {
  const { repository } = current;
  const activity = await createActivity(repository);
  const orders = await createDueOrders(repository, activity, 1);
  await createDueOrders(repository, activity, 1);
  const holder = await current.lockOrder(orders[0]?.id ?? '');
  const sweep = { graceMs: 0, after: null };
  expect((await repository.sweepReminders(sweep)).reminded).toBe(1);
  expect((await repository.sweepReminders(sweep)).reminded).toBe(0);
  await holder.release();
  expect((await repository.sweepReminders(sweep)).reminded).toBe(1);
  const [row] = await current.query(
    'SELECT COUNT(*) AS n FROM message_outbox WHERE phase = 1 AND swept_at IS NULL',
  );
  expect(Number(row?.n)).toBe(0);
});

test('a claim whose lease ran out finishes nothing: the notice is in other hands', async () => {
  const { repository } = current;
  const { orders } = await remindable(1);
  await repository.remindPending(idsOf(orders));
  const [slow] = await repository.claimNotifications({ limit: 1, leaseMs: 1 });
  if (!slow) throw new Error('one is due');
  let second: typeof slow | undefined;
  await waitUntil(
    async () => {
      [second] = await repository.claimNotifications({ limit: 1, leaseMs: 60_000 });
      return second !== undefined;
    },
    { what: 'the lease to end' },
  );
  await repository.finishNotifications([
    { claim: slow, outcome: { state: 'WAITING', retryInMs: 0, error: 'late' } },
  ]);
  expect(await repository.claimNotifications({ limit: 1, leaseMs: 1_000 })).toEqual([]);
  await repository.finishNotifications([{ claim: slow, outcome: { state: 'SENT' } }]);
  const state = async () => (await repository.readTimeline(slow.orderId))?.notifications[0];
  expect(await state()).toMatchObject({ state: 'WAITING', attempts: 2 });
  if (second)
    await repository.finishNotifications([{ claim: second, outcome: { state: 'PARKED', error: 'refused' } }]);
  expect(await state()).toMatchObject({ state: 'PARKED', lastError: 'refused' });
});

test('a closed batch whose notices cannot be written keeps no other waiting, and stays after its last try', async () => {
  const { repository } = current;
  const activity = await createActivity(repository);
  const [bad, good] = await createDueOrders(repository, activity, 2);
  if (!bad || !good) throw new Error('two were created');
  await repository.closeExpired([bad.id], { cause: 'message' });
  await repository.closeExpired([good.id], { cause: 'message' });
  await current.query(`CREATE TRIGGER refuse BEFORE INSERT ON notification FOR EACH ROW
    IF NEW.order_id = UNHEX('${bad.id.replaceAll('-', '')}') THEN SIGNAL SQLSTATE '45000'; END IF`);
  expect(await repository.expandClosedNotices(10)).toBe(1);
  const jobs = await repository.claimNotifications({ limit: 10, leaseMs: 60_000 });
  expect(jobs.map(({ orderId }) => orderId)).toEqual([good.id]);
  const left = "SELECT attempts FROM effect WHERE kind = 'closed_notice'";
  expect(await current.query(left)).toEqual([{ attempts: 1 }]);
  await current.query('UPDATE effect SET attempts = 19, created_at = NOW(3) - INTERVAL 1 HOUR');
  await repository.expandClosedNotices(10);
  expect(await current.query(left)).toEqual([{ attempts: 20 }]);
  await current.query('DROP TRIGGER refuse');
  // An operator's matter from here on.
  expect(await repository.expandClosedNotices(10)).toBe(0);
});

test('a notice that MySQL refuses is the only one of its batch that is not written', async () => {
  const { repository } = current;
  const activity = await createActivity(repository);
  const orders = await createDueOrders(repository, activity, 40);
  await repository.closeExpired(idsOf(orders), { cause: 'message' });
  const bad = orders[17]?.id ?? '';
  await current.query(
    `CREATE TRIGGER refuse BEFORE INSERT ON notification FOR EACH ROW
     IF NEW.order_id = UNHEX('${bad.replaceAll('-', '')}') THEN SIGNAL SQLSTATE '45000'; END IF`,
  );
  await repository.expandClosedNotices(10);
  const claim = () => repository.claimNotifications({ limit: 100, leaseMs: 60_000 });
  expect((await claim()).map(({ orderId }) => orderId).sort()).toEqual(
    idsOf(orders)
      .filter((id) => id !== bad)
      .sort(),
  );
  const [left] = await current.query(
    "SELECT LOWER(HEX(order_ids)) AS ids FROM effect WHERE kind = 'closed_notice'",
  );
  expect(left?.ids).toBe(bad.replaceAll('-', ''));

  // Its cause is gone: the one that is left comes too.
  await current.query('DROP TRIGGER refuse');
  await current.query('UPDATE effect SET created_at = NOW(3) - INTERVAL 1 HOUR');
  expect(await repository.expandClosedNotices(10)).toBe(1);
  expect((await claim()).map(({ orderId }) => orderId)).toEqual([bad]);
});

test('reminders that fail, though MySQL is there, do not keep the sweep from the pages behind them', async () => {
  const { repository } = current;
  // One row each, and 50 rows are a page.
  const { activity } = await remindable(1);
  for (let row = 1; row < 50; row += 1) {
    await repository.createOrders([newOrder(activity, { remindAt: past(50) })]);
  }
  const behind = await remindable(3);
  await current.query('UPDATE message_outbox SET due_at = due_at - INTERVAL 1 MINUTE ORDER BY id LIMIT 50');
  // The system's fault, not the rows': nothing is parked.
  await current.query(
    `CREATE TRIGGER fail BEFORE UPDATE ON orders FOR EACH ROW
     IF NEW.activity_id = ${activity.id} THEN INSERT INTO no_such_table VALUES (1); END IF`,
  );
  const first = await repository.sweepReminders({ graceMs: 0, after: null });
  expect(first).toMatchObject({ reminded: 0, parked: [] });
  const second = await repository.sweepReminders({ graceMs: 0, after: first.next });
  expect(second).toMatchObject({ reminded: behind.orders.length, next: null });

  await current.query('DROP TRIGGER fail');
  expect(await repository.sweepReminders({ graceMs: 0, after: null })).toMatchObject({ reminded: 50 });
});

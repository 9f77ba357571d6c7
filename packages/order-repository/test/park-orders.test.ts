import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Activity } from '../src/index.ts';
import {
  createActivity,
  createDueOrders,
  type Fixture,
  idsOf,
  newOrder,
  noAnswer,
  openFixture,
  outcomesOf,
} from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.query('DROP TRIGGER IF EXISTS bad_order'));
afterAll(() => fixture.close());

const byMessage = { cause: 'message' } as const;

/** Make every update of these orders fail, as a corrupt row would. */
async function spoil(
  ids: readonly string[],
  signal = "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'spoilt'",
  when = 'TRUE',
) {
  const list = ids.map((id) => `X'${id.replaceAll('-', '')}'`).join(', ');
  await fixture.query(
    `CREATE TRIGGER bad_order BEFORE UPDATE ON orders FOR EACH ROW
     IF NEW.id IN (${list}) AND ${when} THEN ${signal}; END IF`,
  );
}

async function parkedRows() {
  return fixture.query('SELECT ref, reason FROM parked ORDER BY id');
}

async function arrange(count: number): Promise<{ activity: Activity; ids: string[] }> {
  const activity = await createActivity(fixture.repository, { capacity: 1_000 });
  return { activity, ids: idsOf(await createDueOrders(fixture.repository, activity, count)) };
}

test('of 250 due orders one always fails: 249 close, one is parked and alerted, and closes once redriven (case 11)', async () => {
  const { repository, logged } = fixture;
  const { activity, ids } = await arrange(250);
  const bad = ids[137] ?? '';
  await spoil([bad]);
  const result = await repository.closeExpired(ids, byMessage);
  expect(result.closed).toHaveLength(249);
  expect(result.parked).toEqual([bad]);
  expect((await repository.readActivity(activity.id))?.available).toBe(999);
  expect((await parkedRows()).at(-1)).toMatchObject({ reason: 'spoilt' });
  expect(logged.filter(({ level }) => level === 'error')).toHaveLength(1);
  expect((await repository.readTimeline(bad))?.parked).toMatchObject([{ reason: 'spoilt' }]);

  // The operator is too early: the cause is still there, and nothing changes.
  const redrive = { dryRun: false, actor: 'ops', reason: 'the trigger is gone' };
  const [parked] = await repository.listParked({ orderId: bad }, { afterId: 0, limit: 10 });
  expect(parked).toMatchObject({ kind: 'order', state: 'PARKED', orderId: bad, phase: 2 });
  expect(await outcomesOf(repository.redriveParked([parked?.id ?? 0], redrive, noAnswer))).toEqual([
    { id: parked?.id, changed: false, kind: 'failed', reason: 'spoilt' },
  ]);

  // Parked: passed over from now on, by message and by sweep, even once it would work.
  await fixture.query('DROP TRIGGER bad_order');
  expect(await repository.closeExpired([bad], byMessage)).toMatchObject({ closed: [], parked: [bad] });
  expect(await repository.closeOverdue({ graceMs: 0, limit: 100 })).toMatchObject({ found: 0 });
  expect(await outcomesOf(repository.redriveParked([parked?.id ?? 0], redrive, noAnswer))).toMatchObject([
    { kind: 'redriven', changed: true, rearmed: 1 },
  ]);
  expect(await repository.closeOverdue({ graceMs: 0, limit: 100 })).toMatchObject({ found: 1 });
  expect((await repository.readActivity(activity.id))?.available).toBe(1_000);
});

test('an order that fails again after its redrive is parked again, in the phase that failed', async () => {
  const { repository } = fixture;
  const { ids } = await arrange(2);
  const bad = ids[1] ?? '';
  await spoil([bad], undefined, "NEW.status <> 'PENDING'");
  await repository.closeExpired(ids, byMessage);
  const [parked] = await repository.listParked({ orderId: bad }, { afterId: 0, limit: 10 });
  await outcomesOf(
    repository.redriveParked(
      [parked?.id ?? 0],
      { dryRun: false, actor: 'ops', reason: 'too early' },
      noAnswer,
    ),
  );
  expect((await repository.closeExpired([bad], byMessage)).parked).toEqual([bad]);
  expect(await repository.listParked({ orderId: bad }, { afterId: 0, limit: 10 })).toMatchObject([
    { id: parked?.id, state: 'PARKED', settledAt: null, phase: 2 },
  ]);
  await fixture.query('DROP TRIGGER bad_order');
  expect(await repository.closeOverdue({ graceMs: 0, limit: 100 })).toMatchObject({ found: 0 });
});

test('a sweep that meets a failing order closes the others and parks it', async () => {
  const { repository } = fixture;
  const { ids } = await arrange(60);
  await spoil([ids[3] ?? '']);
  const result = await repository.closeOverdue({ graceMs: 0, limit: 100 });
  expect(result.found).toBe(60);
  expect(result.closed).toHaveLength(59);
  expect(result.parked).toEqual([ids[3]]);
  expect(await repository.closeOverdue({ graceMs: 0, limit: 100 })).toMatchObject({ found: 0 });
});

test('a reminder that fails for one order reminds the others, and parks it', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const orders = Array.from({ length: 30 }, () =>
    newOrder(activity, { remindAt: new Date(Date.now() - 10) }),
  );
  await repository.createOrders(orders);
  const bad = orders[29]?.id ?? '';
  await fixture.query('DELETE FROM message_outbox WHERE phase = 2');
  await spoil([bad]);
  const result = await repository.remindPending(idsOf(orders));
  expect(result.reminded).toHaveLength(29);
  expect(result.parked).toEqual([bad]);
  const [rows] = await fixture.query('SELECT SUM(order_count) AS n FROM message_outbox WHERE phase = 2');
  expect(Number(rows?.n)).toBe(29);

  // Set aside as a reminder only: its stock must not be held for ever.
  await fixture.query('DROP TRIGGER bad_order');
  expect((await repository.remindPending([bad])).parked).toEqual([bad]);
  await fixture.query('UPDATE orders SET expires_at = NOW(3) WHERE id = ?', [
    Buffer.from(bad.replaceAll('-', ''), 'hex'),
  ]);
  expect((await repository.closeOverdue({ graceMs: 0, limit: 100 })).closed).toMatchObject([
    { orderId: bad },
  ]);
});

test('an order that can neither be reminded nor closed is set aside in both phases', async () => {
  const { repository } = fixture;
  const { ids } = await arrange(3);
  const bad = ids[1] ?? '';
  await spoil([bad]);
  expect((await repository.remindPending(ids)).parked).toEqual([bad]);
  expect((await repository.closeExpired(ids, byMessage)).parked).toEqual([bad]);
  await fixture.query('DROP TRIGGER bad_order');
  expect((await repository.remindPending([bad])).parked).toEqual([bad]);
  expect((await repository.closeExpired([bad], byMessage)).parked).toEqual([bad]);
});

test('a failure that is not of the orders parks none of them', async () => {
  const { repository } = fixture;
  const { ids } = await arrange(40);
  const before = await parkedRows();
  // "No such table", for all: a system that is broken, not forty bad orders.
  await spoil(ids, 'INSERT INTO no_such_table VALUES (1)');
  await expect(repository.closeExpired(ids, byMessage)).rejects.toMatchObject({ errno: 1146 });
  await expect(repository.closeExpired(ids.slice(0, 1), byMessage)).rejects.toMatchObject({ errno: 1146 });
  expect(await parkedRows()).toEqual(before);
  await fixture.query('DROP TRIGGER bad_order');
  expect((await repository.closeExpired(ids, byMessage)).closed).toHaveLength(40);
});

test('a failure of most orders of a call, though not of all, is not taken for forty bad orders', async () => {
  const { repository } = fixture;
  const { ids } = await arrange(42);
  const before = await parkedRows();
  await spoil(ids.slice(2), 'INSERT INTO no_such_table VALUES (1)');
  await expect(repository.closeExpired(ids, byMessage)).rejects.toMatchObject({ errno: 1146 });
  expect(await parkedRows()).toEqual(before);
  await fixture.query('DROP TRIGGER bad_order');
  expect((await repository.closeExpired(ids, byMessage)).closed).toHaveLength(40);
});

test('an order that others keep locked is never parked', async () => {
  const { repository } = fixture;
  const { activity, ids } = await arrange(3);
  const holder = await fixture.lockActivity(activity.id);
  expect(await repository.closeExpired(ids, byMessage)).toMatchObject({
    closed: [],
    parked: [],
    contended: ids,
  });
  await holder.release();
  expect((await repository.closeExpired(ids, byMessage)).closed).toHaveLength(3);
});

test('forty orders that MySQL refuses stop neither sweep: what was found is parked, and the next call gets further', async () => {
  const { repository } = fixture;
  const { activity, ids } = await arrange(60);
  const bad = ids.slice(0, 40);
  const parked: string[] = [];
  await spoil(bad);
  const reminded = await repository.remindPending(ids);
  expect(reminded.parked).toEqual(bad.slice(0, 32));
  expect([...reminded.contended].sort()).toEqual(ids.slice(32));
  expect((await repository.remindPending(ids)).reminded).toHaveLength(20);

  for (let sweeps = 0; sweeps < 2; sweeps += 1) {
    parked.push(...(await repository.closeOverdue({ graceMs: 0, limit: 100 })).parked);
  }
  expect(parked.sort()).toEqual(bad);
  expect((await repository.readActivity(activity.id))?.available).toBe(960);
  expect(await repository.closeOverdue({ graceMs: 0, limit: 100 })).toMatchObject({ found: 0 });
});

import { v7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { forgetFinished } from '../src/forget-finished.ts';
import { type Fixture, openFixture } from './fixture.ts';
import { openUnguarded, without } from './unguarded.ts';

const dayMs = 86_400_000;
const keep = { olderThanMs: 2 * dayMs, archiveOlderThanMs: null, actionsOlderThanMs: null, limit: 100 };

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture?.close());
beforeEach(async () => {
  for (const table of ['message_outbox', 'parked', 'audit_finding', 'order_archive', 'operator_action']) {
    await fixture.query(`DELETE FROM ${table}`);
  }
});

const newBytes = () => Buffer.from(v7().replaceAll('-', ''), 'hex');
const daysAgo = (days: number | null) => (days === null ? null : new Date(Date.now() - days * dayMs));
const count = async (table: string) =>
  Number((await fixture.query(`SELECT COUNT(*) AS n FROM ${table}`))[0]?.n);

/** Ages in days; null: it has not come to that. */
function message(phase: number, sent: number | null, due: number, swept: number | null = null) {
  return fixture.query(
    `INSERT INTO message_outbox (id, phase, body, order_count, due_at, created_at, sent_at, swept_at)
     VALUES (?, ?, '[]', 0, ?, NOW(3) - INTERVAL 9 DAY, ?, ?)`,
    [newBytes(), phase, daysAgo(due), daysAgo(sent), daysAgo(swept)],
  );
}

async function archived(days: readonly number[]): Promise<Buffer[]> {
  const ids = days.map(newBytes);
  for (const [index, id] of ids.entries()) {
    await fixture.query(
      `INSERT INTO order_archive (order_id, activity_id, user_id, status, quantity, credit, debit, finished_at,
         archived_at, history) VALUES (?, 1, 'x', 'CANCELLED', 1, 1, 0, NOW(3), ?, '{}')`,
      [id, daysAgo(days[index] ?? 0)],
    );
  }
  return ids;
}

it('messages go a day after their orders, once they are sent and their reminders are looked after', async () => {
  await message(1, 4, 4, 4);
  await message(2, 4, 4);
  expect(await fixture.repository.forgetFinished(keep)).toMatchObject({ messages: 2 });
  expect(await count('message_outbox')).toBe(0);
});

it.each([
  ['one that was never sent', () => message(2, null, 9)],
  ['one that was never sent, though its orders were reminded', () => message(1, null, 9, 9)],
  ['reminders that the sweep has not looked after', () => message(1, 9, 9)],
  ['reminders that the sweep looked after lately', () => message(1, 9, 9, 2.5)],
  ['a close that is still to come', () => message(2, 9, -1)],
  ['one that was sent lately', () => message(2, 2.5, 4)],
])('%s stays', async (_what, write) => {
  await write();
  expect(await fixture.repository.forgetFinished(keep)).toMatchObject({ messages: 0 });
  expect(await count('message_outbox')).toBe(1);
});

it('what must stay is not read again and again: both looks are ranges of one index', async () => {
  for (let n = 0; n < 20; n += 1) await message(1, 9, 9);
  const plan = await fixture.query(
    `EXPLAIN SELECT id FROM message_outbox FORCE INDEX (message_outbox_due)
     WHERE phase = 1 AND swept_at <= NOW(3) - INTERVAL 3 DAY ORDER BY swept_at LIMIT 5`,
  );
  expect(plan[0]).toMatchObject({ type: 'range', key: 'message_outbox_due' });
  expect(Number(plan[0]?.rows)).toBeLessThanOrEqual(2);
});

it('what was set aside goes once a person has settled it, a finding once it is healed; the rest stays', async () => {
  const parked = (state: string, days: number | null) =>
    fixture.query(
      `INSERT INTO parked (kind, ref, body_hash, reason, created_at, state, settled_at)
       VALUES ('message', ?, REPEAT('x', 32), 'bad', NOW(3) - INTERVAL 9 DAY, ?, ?)`,
      [v7(), state, daysAgo(days)],
    );
  const finding = (days: number | null) =>
    fixture.query(
      `INSERT INTO audit_finding (id, at, kind, action, detail, healed_at)
       VALUES (?, NOW(3) - INTERVAL 9 DAY, 'x', 'x', '{}', ?)`,
      [newBytes(), daysAgo(days)],
    );
  await parked('REDRIVEN', 3);
  await parked('DROPPED', 3);
  await parked('DROPPED', 1);
  await parked('PARKED', null);
  await finding(3);
  await finding(1);
  await finding(null);
  await fixture.query(
    `INSERT INTO operator_action (id, at, actor, action, target_kind, target, reason)
     VALUES (?, NOW(3) - INTERVAL 900 DAY, 'boss', 'x', 'order', 'x', 'x')`,
    [newBytes()],
  );
  expect(await fixture.repository.forgetFinished(keep)).toMatchObject({ parked: 2, findings: 1 });
  expect([await count('parked'), await count('audit_finding'), await count('operator_action')]).toEqual([
    2, 2, 1,
  ]);
});

it('the archive is kept for as long as its own policy says, in batches', async () => {
  await archived([9, 9, 9, 1]);
  expect(await fixture.repository.forgetFinished(keep)).toMatchObject({ archived: 0 });
  const archive = { ...keep, olderThanMs: null, archiveOlderThanMs: 2 * dayMs, limit: 2 };
  expect(await fixture.repository.forgetFinished(archive)).toMatchObject({ archived: 2 });
  expect(await fixture.repository.forgetFinished(archive)).toMatchObject({ archived: 1 });
  expect(await count('order_archive')).toBe(1);
});

it('an archived order of which the shop is still to be told something stays; what it was told goes with it', async () => {
  const ids = await archived([9, 9]);
  for (const [index, id] of ids.entries()) {
    await fixture.query(
      `INSERT INTO shop_event (event_id, order_id, seq, type, body, state, next_attempt_at, created_at)
       VALUES (?, ?, 2500, 'refunded', '{}', ?, NOW(3), NOW(3))`,
      [newBytes(), id, index === 0 ? 'PARKED' : 'SENT'],
    );
  }
  const archive = { ...keep, olderThanMs: null, archiveOlderThanMs: 2 * dayMs };
  expect(await fixture.repository.forgetFinished(archive)).toMatchObject({ archived: 1 });
  expect(await count("shop_event WHERE state = 'SENT'")).toBe(0);
  expect(await fixture.query('SELECT order_id FROM order_archive')).toEqual([{ order_id: ids[0] }]);
  // Without the guard nobody would know any more what the event is of.
  const database = openUnguarded(fixture.url, [without("e.state <> 'SENT'", 'FALSE')]);
  expect(await forgetFinished(database, archive)).toMatchObject({ archived: 1 });
  expect(database.unmet()).toEqual([]);
  await database.close();
  await fixture.query('DELETE FROM shop_event');
});

it('what operators did is kept for ever, or for as long as its own policy says', async () => {
  for (const days of [900, 900, 300]) {
    await fixture.query(
      `INSERT INTO operator_action (id, at, actor, action, target_kind, target, reason)
       VALUES (?, ?, 'boss', 'x', 'order', 'x', 'x')`,
      [newBytes(), daysAgo(days)],
    );
  }
  expect(await fixture.repository.forgetFinished(keep)).toMatchObject({ actions: 0 });
  const year = { ...keep, olderThanMs: null, actionsOlderThanMs: 365 * dayMs };
  expect(await fixture.repository.forgetFinished(year)).toMatchObject({ actions: 2, messages: 0 });
  expect(await count('operator_action')).toBe(1);
});

it('when a payment was dismissed is kept for as long as payments are, however short the policy of what operators did is', async () => {
  for (const [days, action] of [
    [400, 'payment.dismiss'],
    [400, 'x'],
    [800, 'payment.dismiss'],
  ] as const) {
    await fixture.query(
      `INSERT INTO operator_action (id, at, actor, action, target_kind, target, reason)
       VALUES (?, ?, 'boss', ?, 'order', 'x', 'x')`,
      [newBytes(), daysAgo(days), action],
    );
  }
  const year = {
    ...keep,
    olderThanMs: 90 * dayMs,
    archiveOlderThanMs: 700 * dayMs,
    actionsOlderThanMs: 365 * dayMs,
  };
  expect(await fixture.repository.forgetFinished(year)).toMatchObject({ actions: 2 });
  expect(await fixture.query('SELECT action FROM operator_action')).toEqual([{ action: 'payment.dismiss' }]);
  // Without the guard the payment would count as dismissed long ago.
  const database = openUnguarded(fixture.url, [without("action <> 'payment.dismiss'", 'TRUE')]);
  expect(await forgetFinished(database, year)).toMatchObject({ actions: 1 });
  expect(database.unmet()).toEqual([]);
  await database.close();
});

it('the archive keeps an order for as long as a message may name it, whatever its own policy says', async () => {
  await message(2, 4, 4);
  const ids = await archived([9, 4]);
  const short = { ...keep, olderThanMs: 5 * dayMs, archiveOlderThanMs: 2 * dayMs };
  expect(await fixture.repository.forgetFinished(short)).toMatchObject({ messages: 0, archived: 1 });
  const left = await fixture.query('SELECT order_id FROM order_archive');
  expect(left.map(({ order_id }) => order_id)).toEqual([ids[1]]);
});

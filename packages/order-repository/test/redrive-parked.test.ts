import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewOrder } from '../src/index.ts';
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
afterAll(() => fixture.close());

const page = { afterId: 0, limit: 50 };
const wet = { dryRun: false, actor: 'operator-7', reason: 'the release that reads it is out' };
const dry = { ...wet, dryRun: true };
let messages = 0;

function bodyOf(phase: 1 | 2, orders: readonly NewOrder[]): Buffer {
  const named = orders.map(({ id, activityId, userId, createdAt, expiresAt }) => ({
    orderId: id,
    activityId,
    userId,
    createTime: createdAt.getTime(),
    dueTime: expiresAt.getTime(),
  }));
  const dueTime = Math.min(...named.map((order) => order.dueTime));
  return Buffer.from(JSON.stringify({ version: 1, phase, dueTime, orders: named }));
}

/** @returns the number of the row that this message was parked as. */
async function park(kind: 'message' | 'dead_letter', body: Buffer, phase: 1 | 2 = 2): Promise<number> {
  messages += 1;
  const message = { messageId: `message-${messages}`, phase, reason: 'of the test', body };
  const { repository } = fixture;
  await (kind === 'message' ? repository.parkMessage(message) : repository.parkDeadLetter(message));
  const rows = await repository.listParked({ kind, state: 'PARKED' }, { afterId: 0, limit: 200 });
  return rows.find(({ ref }) => ref === message.messageId)?.id ?? 0;
}

async function countOutbox(phase: 1 | 2): Promise<number> {
  const [row] = await fixture.query('SELECT COUNT(*) AS n FROM message_outbox WHERE phase = ?', [phase]);
  return Number(row?.n);
}

async function countActions(parkedId: number): Promise<number> {
  const [row] = await fixture.query(
    "SELECT COUNT(*) AS n FROM operator_action WHERE target_kind = 'parked' AND target = ?",
    [String(parkedId)],
  );
  return Number(row?.n);
}

test('a dead letter that is redriven arms its pending orders once, however often it is asked for', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const orders = [newOrder(activity), newOrder(activity), newOrder(activity)];
  await repository.createOrders(orders);
  await repository.cancelOrder(orders[0]?.id ?? '', orders[0]?.userId ?? '');
  const id = await park('dead_letter', bodyOf(2, orders));

  expect(await outcomesOf(repository.redriveParked([id], dry, noAnswer))).toEqual([
    { id, changed: false, kind: 'redriven', rearmed: 2 },
  ]);
  expect(await countOutbox(2)).toBe(0);
  expect(await countActions(id)).toBe(0);

  const both = await Promise.all([
    outcomesOf(repository.redriveParked([id], wet, noAnswer)),
    outcomesOf(repository.redriveParked([id], wet, noAnswer)),
  ]);
  expect(both.flat().filter(({ changed }) => changed)).toEqual([
    { id, changed: true, kind: 'redriven', rearmed: 2 },
  ]);
  expect(await outcomesOf(repository.redriveParked([id, id], wet, noAnswer))).toEqual([
    { id, changed: false, kind: 'settled', state: 'REDRIVEN' },
  ]);
  expect(await countOutbox(2)).toBe(1);
  expect(await countActions(id)).toBe(1);
  const [outbox] = await fixture.query('SELECT order_count, sent_at FROM message_outbox WHERE phase = 2');
  expect(outbox).toMatchObject({ order_count: 2, sent_at: null });
  const [action] = await fixture.query('SELECT actor, action, reason FROM operator_action');
  expect(action).toMatchObject({ actor: Buffer.from('operator-7'), action: 'redrive', reason: wet.reason });
});

test('the same dead letter read twice from the broker is one row, and stays settled', async () => {
  const { repository } = fixture;
  const letter = { messageId: 'twice', phase: 2 as const, reason: 'x', body: Buffer.from('{}') };
  await repository.parkDeadLetter(letter);
  await repository.parkDeadLetter(letter);
  await repository.parkDeadLetter({ ...letter, body: Buffer.from('{"other":1}') });
  const rows = (await repository.listParked({ kind: 'dead_letter', state: 'PARKED' }, page)).filter(
    ({ ref }) => ref === 'twice',
  );
  expect(rows).toHaveLength(2);
  await outcomesOf(repository.dropParked([rows[0]?.id ?? 0], wet, noAnswer));
  await repository.parkDeadLetter(letter);
  expect(await repository.listParked({ kind: 'dead_letter', state: 'DROPPED' }, page)).toHaveLength(1);
});

test('what no release reads can only be dropped, and is said so in a dry run (case 26)', async () => {
  const { repository } = fixture;
  const ids = [await park('message', Buffer.from('not json')), await park('message', Buffer.from('{"v":9}'))];
  for (const options of [dry, wet]) {
    expect(await outcomesOf(repository.redriveParked(ids, options, noAnswer))).toMatchObject([
      { kind: 'unreadable', changed: false, reason: expect.stringContaining('not JSON') },
      { kind: 'unreadable', changed: false },
    ]);
  }
  expect(await outcomesOf(repository.dropParked(ids, dry, noAnswer))).toMatchObject([
    { kind: 'dropped', changed: false },
    { kind: 'dropped', changed: false },
  ]);
  expect(await outcomesOf(repository.dropParked(ids, wet, noAnswer))).toMatchObject([
    { changed: true },
    { changed: true },
  ]);
  expect(await outcomesOf(repository.dropParked(ids, wet, noAnswer))).toMatchObject([
    { kind: 'settled' },
    { kind: 'settled' },
  ]);
  expect(await outcomesOf(repository.dropParked([999_999], wet, noAnswer))).toEqual([
    { id: 999_999, changed: false, kind: 'not_found' },
  ]);
});

test('a message on the wrong topic is redriven for the phase that it says itself (case 26)', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const orders = [newOrder(activity)];
  await repository.createOrders(orders);
  const before = await countOutbox(1);
  const id = await park('message', bodyOf(1, orders), 2);
  expect(await outcomesOf(repository.redriveParked([id], wet, noAnswer))).toMatchObject([
    { kind: 'redriven', rearmed: 1 },
  ]);
  expect(await countOutbox(1)).toBe(before + 1);
});

test('a parked order that is still pending cannot be dropped: it would hold its places for ever', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const [order] = await createDueOrders(repository, activity, 1);
  await fixture.query(
    `INSERT INTO parked (kind, ref, body_hash, order_id, phase, reason, created_at)
     VALUES ('order', ?, ?, ?, 2, 'x', NOW(3))`,
    [order?.id, Buffer.alloc(32), Buffer.from((order?.id ?? '').replaceAll('-', ''), 'hex')],
  );
  const [parked] = await repository.listParked({ kind: 'order', state: 'PARKED' }, page);
  expect(await outcomesOf(repository.dropParked([parked?.id ?? 0], wet, noAnswer))).toMatchObject([
    { kind: 'still_pending', changed: false, orderId: order?.id },
  ]);
  await outcomesOf(repository.redriveParked([parked?.id ?? 0], wet, noAnswer));
  expect((await repository.closeOverdue({ graceMs: 0, limit: 10 })).closed.map((c) => c.orderId)).toEqual(
    idsOf([order].filter((o) => o !== undefined)),
  );
});

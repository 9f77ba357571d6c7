import { parkedOutcomes } from '@lapse/contracts';
import type { Activity } from '@lapse/order-repository';
import { openActivity, openShop, placeOrders, readStock, type Shop } from '@lapse/test-shop';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditShape } from '../src/shapes/audit.ts';
import { explainShape, orderShowShape } from '../src/shapes/order.ts';
import { applied, type Cli, envOf, openCli } from './cli.ts';

/** One fault of each kind in one shop, and what the command line says of it. */
let shop: Shop;
let cli: Cli;
let activity: Activity;
beforeAll(async () => {
  shop = await openShop();
  // The least that there is: a younger hold may still be written.
  cli = openCli({ ...envOf(shop), LAPSE_ORPHANS_AFTER: '1s' });
  activity = await openActivity(shop, 20);
});
afterAll(() => shop?.close());

const overdue = { remindInMs: -60_000, expireInMs: -20_000 };
const ahead = { remindInMs: 60_000, expireInMs: 120_000 };
const place = async (times = ahead): Promise<string> =>
  (await placeOrders(shop, activity, 1, times)).ids[0] ?? '';

async function explain(id: string) {
  const { data } = await cli.json(explainShape, 'explain', 'order', id);
  return { ...data, text: data.answers.map(({ says }) => says).join(' ') };
}
/** Whether a hold is so old that its order should be there. */
async function isOld(orderId: string): Promise<boolean> {
  for await (const holds of shop.stock.scanOld(activity.id, { heldMs: 1_000, releasedMs: 3_600_000 })) {
    if (holds.some((hold) => hold.orderId === orderId)) return true;
  }
  return false;
}

/** Tell Redis what it is owed, as the sweeper does. */
async function settleEffects(): Promise<void> {
  for (const effect of await shop.orders.listPendingEffects({ olderThanMs: 0, limit: 100 })) {
    if (effect.kind === 'release') await shop.stock.release(effect.activityId, effect.orderIds);
    await shop.orders.markEffectsApplied([effect.id]);
  }
}

test('an order that the sweep closed because its message was lost: so it is said, with what became of the message', async () => {
  const id = await place(overdue);
  await shop.orders.remindPending([id]);
  const rows = await shop.orders.claimOutbox({ olderThanMs: 0, limit: 10, leaseMs: 1 });
  const sent = rows.map((row) => ({ id: row.id, messageId: 'lost-one', deliverAt: Date.now() }));
  await shop.orders.markOutboxSent(sent);
  await shop.orders.closeOverdue({ graceMs: 0, limit: 10 });
  await settleEffects();
  const { status, text, todo } = await explain(id);
  expect([status, todo]).toEqual(['TIMEOUT_CLOSED', []]);
  expect(text).toContain('by the sweep, because no message closed it');
  expect(text).toContain('as lost-one');
  const { data } = await cli.json(orderShowShape, 'order', 'show', id);
  expect(data.events.some(({ what }) => what.endsWith('(by the sweep)'))).toBe(true);
  expect(data.redis?.state).toBe('released');
});

test('a release that never reached Redis: owed, and nobody calls it drift', async () => {
  const id = await place();
  await shop.orders.cancelOrder(id, `buyer ${id}`);
  expect((await explain(id)).text).toContain('Redis has still to be told that the places are free');
  expect((await cli.json(auditShape, 'audit')).data.findings).toEqual([]);
  await settleEffects();
});

test('a hold without an order, and one that its order outlived: the audit names both, and mends them alone', async () => {
  const orphan = '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001';
  const before = await readStock(shop, activity.id);
  const reservation = {
    activityId: activity.id,
    generation: activity.generation,
    stockRunId: activity.stockRunId,
  };
  await shop.stock.reserve({ ...reservation, orderId: orphan, userId: 'nobody', quantity: 1 });
  const left = await place();
  await shop.orders.cancelOrder(left, `buyer ${left}`);
  // The row that says what Redis is owed is lost: a fault that nothing of ours makes.
  await shop.query('DELETE FROM effect');
  const drifted = await explain(left);
  expect(drifted.text).toContain('it has drifted from MySQL');
  expect(drifted.todo[0]).toContain('lapse audit');
  await waitUntil(() => isOld(orphan), { what: 'the hold to be older than one that may still be written' });
  const found = await cli.json(auditShape, 'audit');
  expect([found.code, found.data.findings.map(({ kind }) => kind).sort()]).toEqual([
    1,
    ['hold_left', 'hold_without_order'],
  ]);
  const healed = await cli.json(auditShape, 'audit', '--heal', '--reason', 'of the test');
  expect([healed.code, healed.data.healed]).toEqual([0, true]);
  expect(await readStock(shop, activity.id)).toEqual(before);
  expect((await explain(left)).todo).toEqual([]);
});

test('an order that is set aside: why, and redriven it has its message again', async () => {
  const id = await place(overdue);
  await shop.query(
    `INSERT INTO parked (kind, ref, body_hash, order_id, phase, reason, created_at)
     VALUES ('order', ?, UNHEX(SHA2('', 256)), UNHEX(?), 2, 'Out of range', NOW(3))`,
    [id, id.replaceAll('-', '')],
  );
  const { text, todo } = await explain(id);
  expect(text).toContain('Out of range. It waits for a person');
  const [, row = ''] = /lapse parked redrive (\d+)/.exec(todo[0] ?? '') ?? [];
  const redriven = await cli.json(parkedOutcomes, 'parked', 'redrive', row, ...applied);
  expect([redriven.code, redriven.data.outcomes]).toMatchObject([0, [{ kind: 'redriven', rearmed: 1 }]]);
  expect((await explain(id)).todo).toEqual([]);
  const [sent] = await shop.query(
    'SELECT COUNT(*) AS n FROM message_outbox WHERE phase = 2 AND sent_at IS NULL',
  );
  expect(Number(sent?.n)).toBeGreaterThan(0);
});

test('a refund that failed, and a notice that was given up: what is owed, who was not told, and the commands', async () => {
  const id = await place(overdue);
  await shop.orders.closeOverdue({ graceMs: 0, limit: 10 });
  await settleEffects();
  const payment = {
    eventId: `e-${id}`,
    type: 'payment.captured',
    paymentId: `p-${id}`,
    orderId: id,
  } as const;
  const amount = { amountMinor: activity.priceMinor, currency: activity.currency };
  await shop.orders.recordPayment({ ...payment, ...amount, occurredAt: new Date() });
  expect((await explain(id)).text).toContain('Owed to the buyer: CN¥128.00.');
  await shop.query(
    "UPDATE payment SET state = 'REFUND_FAILED', last_error = 'account closed' WHERE payment_id = ?",
    [payment.paymentId],
  );
  await shop.orders.expandClosedNotices(10);
  await shop.query(
    "UPDATE notification SET state = 'PARKED', attempts = 10, last_error = '410 Gone' WHERE stage = 'CLOSED'",
  );
  const { text, todo } = await explain(id);
  expect(text).toContain('its refund FAILED at the provider. The last answer: account closed');
  expect(text).toContain('The buyer did NOT get the notice that the order closed');
  expect(todo.map((action) => /lapse \w+ \w+ \d+/.exec(action)?.[0])).toEqual([
    expect.stringMatching(/^lapse undelivered resend \d+$/),
    expect.stringMatching(/^lapse refunds retry \d+$/),
  ]);
});

import { v7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../src/database.ts';
import { forgetFinished } from '../src/forget-finished.ts';
import { forgetPayments } from '../src/forget-payments.ts';
import type { PaymentCursor } from '../src/index.ts';
import { captureOf, createActivity, type Fixture, newOrder, noAnswer, openFixture } from './fixture.ts';
import { bytesOf } from './old-sale.ts';
import { racing } from './racing.ts';
import { openUnguarded, type Removal, without } from './unguarded.ts';

const dayMs = 86_400_000;
const olderThanMs = 37 * dayMs;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture?.close());
beforeEach(async () => {
  for (const table of ['order_archive', 'operator_action', 'payment', 'audit_finding']) {
    await fixture.query(`DELETE FROM ${table}`);
  }
});

interface Row {
  readonly state?: string;
  /** Days since it came, and since its money went back or was heard not to. */
  readonly days?: number;
  readonly refunded?: number | null;
  readonly failed?: number | null;
  readonly orderId?: string;
}

const daysAgo = (days: number | null) => (days === null ? null : new Date(Date.now() - days * dayMs));

async function write({ state = 'REFUNDED', days = 40, refunded = null, failed = null, orderId }: Row = {}) {
  const payment = { id: 0, paymentId: v7(), refundId: v7(), orderId: orderId ?? v7() };
  await fixture.query(
    `INSERT INTO payment (event_id, type, payment_id, order_id, amount_minor, currency, state, occurred_at, received_at,
       refunded_at, refund_failed_at, refund_id) VALUES (?, 'payment.captured', ?, ?, 1, 'CNY', ?, NOW(3), ?, ?, ?, ?)`,
    [
      ...[v7(), payment.paymentId, bytesOf(payment.orderId), state, daysAgo(days), daysAgo(refunded)],
      ...[daysAgo(failed), bytesOf(payment.refundId)],
    ],
  );
  const [row] = await fixture.query('SELECT id FROM payment WHERE payment_id = ?', [payment.paymentId]);
  return { ...payment, id: Number(row?.id) };
}

async function archive(orderId: string, days: number, status = 'TIMEOUT_CLOSED') {
  await fixture.query(
    `INSERT INTO order_archive (order_id, activity_id, user_id, status, quantity, credit, debit, finished_at,
       archived_at, history) VALUES (?, 1, 'x', ?, 1, 1, 0, NOW(3), ?, '{}')`,
    [bytesOf(orderId), status, daysAgo(days)],
  );
}

type Call = typeof fixture.repository.forgetPayments;
/** @returns rows deleted, and pages read. */
async function walk(limit = 100, call: Call = (options) => fixture.repository.forgetPayments(options)) {
  let payments = 0;
  let pages = 0;
  for (let after: PaymentCursor | null = null; ; ) {
    const done = await call({ olderThanMs, limit, after });
    payments += done.payments;
    pages += 1;
    if (done.next === null) return { payments, pages };
    after = done.next;
  }
}

async function unguarded<T>(removal: Removal, use: (database: Database) => Promise<T>): Promise<T> {
  const database = openUnguarded(fixture.url, [removal]);
  try {
    const result = await use(database);
    expect(database.unmet()).toEqual([]);
    return result;
  } finally {
    await database.close();
  }
}

const count = async () => Number((await fixture.query('SELECT COUNT(*) AS n FROM payment'))[0]?.n);

it('a payment that never had an order goes once it is over and old; one that is open or young stays', async () => {
  for (const state of ['REFUNDED', 'DISMISSED', 'FAILED']) await write({ state });
  for (const state of ['REFUND_PENDING', 'REFUND_FAILED', 'QUARANTINED', 'WAITING']) await write({ state });
  await write({ days: 36 });
  expect(await walk()).toMatchObject({ payments: 3 });
  expect(await walk()).toMatchObject({ payments: 0 });
  expect(await count()).toBe(5);
});

it('pages go on behind what stays, and each payment is read once a walk', async () => {
  for (const state of ['REFUNDED', 'DISMISSED', 'FAILED']) {
    for (let n = 0; n < 5; n += 1) {
      const { orderId } = await write({ state });
      await archive(orderId, 1);
    }
    await write({ state, days: 39 });
  }
  // Three pages a state, of which the last is not full.
  expect(await walk(2)).toEqual({ payments: 3, pages: 12 });
  expect(await count()).toBe(15);
});

describe('its age is that of what happened to its money last', () => {
  const agedBy = (column: string) => without(`COALESCE(${column}, received_at)`, 'received_at');
  const cases: readonly (readonly [string, Row, Removal])[] = [
    ['went back', { refunded: 1 }, agedBy('refunded_at')],
    ['was heard to fail before, and went back another way', { failed: 1 }, agedBy('refund_failed_at')],
  ];

  it.each(cases)(
    'one that %s lately stays, and still hears that its refund failed',
    async (_how, row, removal) => {
      const { paymentId, refundId } = await write(row);
      expect(await walk()).toMatchObject({ payments: 0 });
      const failure = { paymentId, refundId, refundRef: null, reason: 'account closed' };
      expect(await fixture.repository.recordRefundFailure(failure)).toBe('refund_failed');
      await fixture.query("UPDATE payment SET state = 'REFUNDED'");
      await fixture.query('UPDATE payment SET refunded_at = ?, refund_failed_at = ?', [
        daysAgo(row.refunded ?? null),
        daysAgo(row.failed ?? null),
      ]);
      // Without the guard the buyer would never get it.
      const off = await unguarded(removal, (database) =>
        walk(100, (options) => forgetPayments(database, options)),
      );
      expect(off).toMatchObject({ payments: 1 });
      expect(await fixture.repository.recordRefundFailure(failure)).toBe('ignored');
    },
  );

  it('one that a person dismissed lately stays; without the guard it would be gone', async () => {
    const { id } = await write({ state: 'QUARANTINED' });
    const options = { actor: 'boss', reason: 'no money', dryRun: false };
    await fixture.repository.dismissPayments([id], options, noAnswer);
    expect(await walk()).toMatchObject({ payments: 0 });
    const off = await unguarded(without("action = 'payment.dismiss'", 'FALSE'), (database) =>
      walk(100, (wanted) => forgetPayments(database, wanted)),
    );
    expect(off).toMatchObject({ payments: 1 });
  });

  it('one that a person dismissed long ago goes', async () => {
    const { id } = await write({ state: 'QUARANTINED' });
    const options = { actor: 'boss', reason: 'no money', dryRun: false };
    await fixture.repository.dismissPayments([id], options, noAnswer);
    await fixture.query('UPDATE operator_action SET at = NOW(3) - INTERVAL 38 DAY');
    expect(await walk()).toMatchObject({ payments: 1 });
  });
});

it.each(['REFUNDED', 'DISMISSED', 'FAILED'])(
  'one of an order that is there stays while it is %s; without the guard it would be gone',
  async (state) => {
    const order = newOrder(await createActivity(fixture.repository));
    await fixture.repository.createOrders([order]);
    await write({ state, orderId: order.id });
    expect(await walk()).toMatchObject({ payments: 0 });
    const off = await unguarded(
      without('PRIMARY) WHERE id IN (?)', 'PRIMARY) WHERE FALSE AND id IN (?)'),
      (database) => walk(100, (options) => forgetPayments(database, options)),
    );
    expect(off).toMatchObject({ payments: 1 });
  },
);

it.each([
  ['was ordered anew', "state = 'REFUND_PENDING'", ' AND state = ?', ' AND ? IS NOT NULL'],
  ['went back this moment', 'refunded_at = NOW(3)', ') <= NOW(3) - INTERVAL', ') <= NOW(3) + INTERVAL'],
])('one whose refund %s between the look and the delete stays', async (_what, change, guard, instead) => {
  const { id } = await write();
  const run = async (removals: readonly Removal[]) => {
    const database = openUnguarded(fixture.url, removals);
    const changed = () => fixture.query(`UPDATE payment SET ${change} WHERE id = ?`, [id]);
    try {
      const late = racing(database, 'DELETE FROM payment', changed);
      const { payments } = await forgetPayments(late, { olderThanMs, limit: 10, after: null });
      expect(database.unmet()).toEqual([]);
      return payments;
    } finally {
      await database.close();
    }
  };
  expect(await run([])).toBe(0);
  await fixture.query("UPDATE payment SET state = 'REFUNDED', refunded_at = NULL WHERE id = ?", [id]);
  expect(await run([without(guard, instead)])).toBe(1);
});

describe('the archive lets go of an order', () => {
  const forget = { olderThanMs: null, archiveOlderThanMs: 35 * dayMs, actionsOlderThanMs: null, limit: 100 };
  const young: readonly (readonly [string, Row])[] = [
    ['came and went back lately', { days: 1, refunded: 1 }],
    ['went back lately', { refunded: 1 }],
    ['was dismissed', { state: 'DISMISSED' }],
    ['is in quarantine', { state: 'QUARANTINED' }],
  ];

  it.each(young)(
    'and a payment of it that %s stays, so that its repeat is a duplicate',
    async (_how, row) => {
      const order = newOrder(await createActivity(fixture.repository));
      const { paymentId } = await write({ ...row, orderId: order.id });
      await archive(order.id, 36);
      expect(await fixture.repository.forgetFinished(forget)).toMatchObject({ archived: 1 });
      expect(await count()).toBe(1);
      const repeat = captureOf(order, { paymentId, amountMinor: 1 });
      expect(await fixture.repository.recordPayment(repeat)).toEqual({ outcome: 'duplicate' });
    },
  );

  it('without the guard a refund that fails late would be told to nobody', async () => {
    const { orderId, paymentId, refundId } = await write({ days: 1, refunded: 1 });
    await archive(orderId, 36);
    await unguarded(without(') <= NOW(3) - INTERVAL', ') <= NOW(3) + INTERVAL'), (database) =>
      forgetFinished(database, forget),
    );
    const failure = { paymentId, refundId, refundRef: null, reason: 'account closed' };
    expect(await fixture.repository.recordRefundFailure(failure)).toBe('ignored');
  });

  it('what the order kept, and what went back long ago, goes with it', async () => {
    const { orderId } = await write({ state: 'CAPTURED' });
    await write({ orderId, refunded: 36 });
    await archive(orderId, 36, 'PAID');
    expect(await fixture.repository.forgetFinished(forget)).toMatchObject({ archived: 1 });
    expect(await count()).toBe(0);
  });
});

import { checkInvariants, createTestRedis, describeVerdict, type TestRedis } from '@lapse/testing';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archiveSoldOrders } from '../src/archive-sold-orders.ts';
import type { NewOrder, OrderRepository } from '../src/index.ts';
import { captureOf, collectLog, type Fixture, openFixture } from './fixture.ts';
import { bytesOf, dayMs, type OldSale, openOldSale } from './old-sale.ts';
import { racing } from './racing.ts';
import { openUnguarded, type Removal, skipping, without } from './unguarded.ts';

let fixture: Fixture;
let repository: OrderRepository;
let redis: TestRedis;
beforeAll(async () => {
  fixture = await openFixture();
  redis = await createTestRedis();
  repository = await fixture.openAnother({ shopEvents: true });
});
afterAll(async () => {
  await fixture?.close();
  await redis?.close();
});

const keep = { olderThanMs: 2 * dayMs, limit: 200, afterUserId: null };

/** Archived as an activity, and forgotten by Redis, which has no part in these tests. */
async function archivedSale(options: Parameters<typeof openOldSale>[2] = {}): Promise<OldSale> {
  const sale = await openOldSale(fixture, repository, options);
  const { archived } = await repository.archiveActivities({ olderThanMs: 2 * dayMs, limit: 100, afterId: 0 });
  expect(archived).toContain(sale.activity.id);
  return sale;
}

async function archiveAll({ activity }: OldSale, by = repository, limit = 200) {
  let archived = 0;
  let left = 0;
  for (let afterUserId: string | null = null; ; ) {
    const done = await by.archiveSoldOrders({ ...keep, activityId: activity.id, limit, afterUserId });
    archived += done.archived;
    left += done.left;
    if (done.next === null) return { archived, left };
    afterUserId = done.next;
  }
}

const count = async (sql: string, orders: readonly NewOrder[]) =>
  Number((await fixture.query(sql, [orders.map(({ id }) => bytesOf(id))]))[0]?.n);

async function judge() {
  const verdict = await checkInvariants({ mysqlUrl: fixture.url, redisUrl: redis.url, atRest: false });
  return { failed: verdict.failed.filter(({ id }) => id !== 'I2'), verdict };
}

async function expectBooksHold(): Promise<void> {
  const { failed, verdict } = await judge();
  expect(
    failed.map(({ detail }) => detail),
    describeVerdict(verdict),
  ).toEqual([]);
}

describe('paid orders of an archived activity go to the archive, and their places stay sold', () => {
  it('in batches, each with its history and its payment, and every count is what it was', async () => {
    const sale = await archivedSale({ paid: 25, closed: 3 });
    const { activity, paid } = sale;
    const counts = await repository.readActivityCounts(activity.id);
    const orders = await repository.countOrders();
    const before = await repository.readTimeline(paid[7]?.id ?? '');
    expect(counts).toMatchObject({ available: 50, paid: { units: 50, orders: 25 } });
    expect([before?.archivedAt, before?.saleArchivedAt]).toEqual([null, expect.any(Date)]);

    expect(await archiveAll(sale, repository, 10)).toEqual({ archived: 25, left: 0 });
    expect(await count('SELECT COUNT(*) AS n FROM orders WHERE id IN (?)', paid)).toBe(0);
    expect(await count('SELECT COUNT(*) AS n FROM order_archive WHERE order_id IN (?)', paid)).toBe(25);
    expect(await count('SELECT COUNT(*) AS n FROM payment WHERE order_id IN (?)', paid)).toBe(25);
    expect(await repository.readActivityCounts(activity.id)).toEqual(counts);
    expect((await repository.countOrders()).PAID).toBe(orders.PAID);
    const after = await repository.readTimeline(paid[7]?.id ?? '');
    expect(after?.archivedAt).toBeInstanceOf(Date);
    expect({ ...after, archivedAt: null }).toEqual(before);
    await expectBooksHold();
    const { verdict } = await judge();
    const { capacity, available, pending, paid: sold } = verdict.counts.units;
    expect(available + pending + sold).toBe(capacity);
    expect(await archiveAll(sale, repository, 10)).toEqual({ archived: 0, left: 0 });
  });

  it('without the count of their places the oracle sees them gone', async () => {
    const sale = await archivedSale();
    const uncounted = openUnguarded(fixture.url, [skipping('UPDATE activity SET sold_archived_orders')]);
    try {
      // What cannot be counted does not go: the update is in the transaction that deletes.
      const options = { ...keep, activityId: sale.activity.id };
      expect(await archiveSoldOrders(uncounted, collectLog([]), options)).toMatchObject({
        archived: 0,
        left: 3,
      });
      expect(uncounted.unmet()).toEqual([]);
      await expectBooksHold();
    } finally {
      await uncounted.close();
    }
    await archiveAll(sale);
    await fixture.query(
      'UPDATE activity SET sold_archived_units = 0, sold_archived_orders = 0 WHERE id = ?',
      [sale.activity.id],
    );
    const { failed } = await judge();
    expect(failed.map(({ id }) => id)).toEqual(['I1']);
    expect(failed[0]?.detail).toMatch(/available units are not capacity minus what is sold/);
    expect(failed[0]?.detail).toMatch(/counts fewer archived places/);
    await fixture.query(
      'UPDATE activity SET sold_archived_units = 6, sold_archived_orders = 3 WHERE id = ?',
      [sale.activity.id],
    );
    await expectBooksHold();
  });

  it('two sweepers at once: each order goes once, and is counted once', async () => {
    const sale = await archivedSale({ paid: 40, closed: 0 });
    const other = await fixture.openAnother({ shopEvents: true });
    const [first, second] = await Promise.all([archiveAll(sale, repository, 7), archiveAll(sale, other, 9)]);
    const third = await archiveAll(sale);
    expect(first.archived + second.archived + third.archived).toBe(40);
    expect((await repository.readActivityCounts(sale.activity.id))?.paid).toEqual({ units: 80, orders: 40 });
    await expectBooksHold();
  });

  it('while more old effects are undone than are looked through, none goes, and that is told', async () => {
    const sale = await archivedSale();
    await fixture.query(
      `INSERT INTO effect (id, batch_id, kind, order_ids, created_at)
       SELECT UNHEX(MD5(CONCAT('e', seq))), UNHEX(MD5(seq)), 'shop_event', REPEAT('x', 16), NOW(3) - INTERVAL 3 DAY
       FROM seq_1_to_1001`,
    );
    const options = { ...keep, activityId: sale.activity.id };
    expect(await repository.archiveSoldOrders(options)).toEqual({
      ...{ archived: 0, left: 3, isHeldUp: true, next: null },
    });
    await fixture.query('DELETE FROM effect LIMIT 1');
    expect(await repository.archiveSoldOrders(options)).toMatchObject({ archived: 3, isHeldUp: false });
    await fixture.query('DELETE FROM effect');
  });

  it('those of an activity that is not archived, or that Redis has not forgotten, stay', async () => {
    const sale = await openOldSale(fixture, repository, {});
    expect(await archiveAll(sale)).toEqual({ archived: 0, left: 3 });
    await fixture.query("UPDATE activity SET archived_at = NOW(3), stock_run_id = 'x' WHERE id = ?", [
      sale.activity.id,
    ]);
    expect(await archiveAll(sale)).toEqual({ archived: 0, left: 3 });
    for (const stock of await repository.readArchivedStocks({ limit: 10 }))
      await repository.noteStockForgotten(stock);
    expect(await archiveAll(sale)).toEqual({ archived: 3, left: 0 });
    await expectBooksHold();
  });
});

describe('a sale that Redis has again', () => {
  const isForgotten = 'archived_at IS NOT NULL AND stock_run_id IS NULL';
  const look = 'SELECT 1 FROM activity WHERE id = ?';
  const counting = 'UPDATE activity SET sold_archived_orders';
  const withoutIn = (statement: string): Removal => ({
    guard: statement,
    cut: (sql) => sql.replace(` AND ${isForgotten}`, ''),
  });
  const cases: readonly (readonly [string, string, string])[] = [
    ['before', look, counting],
    ['between the look and the count', counting, look],
  ];

  it.each(cases)(
    'keeps its paid orders, when it was loaded %s; without that guard they would go',
    async (...each) => {
      const [, seenBy, other] = each;
      const sale = await archivedSale();
      const load = () =>
        fixture.query("UPDATE activity SET stock_run_id = 'x' WHERE id = ?", [sale.activity.id]);
      const run = async (removals: readonly Removal[]) => {
        await fixture.query('UPDATE activity SET stock_run_id = NULL WHERE id = ?', [sale.activity.id]);
        const database = openUnguarded(fixture.url, removals);
        try {
          const options = { ...keep, activityId: sale.activity.id };
          const { archived } = await archiveSoldOrders(
            racing(database, seenBy, load),
            collectLog([]),
            options,
          );
          return { archived, unmet: database.unmet() };
        } finally {
          await database.close();
        }
      };
      // The other guard alone would see what is there before: this one is alone here.
      expect(await run(seenBy === look ? [withoutIn(other)] : [])).toMatchObject({ archived: 0 });
      expect(await run([withoutIn(look), withoutIn(counting)])).toEqual({ archived: 3, unmet: [] });
      await fixture.query('UPDATE activity SET stock_run_id = NULL WHERE id = ?', [sale.activity.id]);
      await expectBooksHold();
    },
  );
});

describe('what is young keeps its order', () => {
  it.each([
    [
      'its deadline',
      'expires_at = NOW(3) - INTERVAL 1 DAY',
      without('AND expires_at <= NOW(3) - INTERVAL ? MICROSECOND', 'AND ? > 0'),
    ],
    ['its idempotency key', 'idempotency_key = id', without('AND idempotency_key IS NULL')],
  ])('%s; without the guard it would be gone', async (_what, change, removal) => {
    const sale = await archivedSale();
    const [kept] = sale.paid;
    if (!kept) throw new Error('no order');
    await fixture.query(`UPDATE orders SET ${change} WHERE id = ?`, [bytesOf(kept.id)]);
    expect(await archiveAll(sale)).toEqual({ archived: 2, left: 1 });
    const off = openUnguarded(fixture.url, [removal]);
    try {
      const options = { ...keep, activityId: sale.activity.id };
      expect(await archiveSoldOrders(off, collectLog([]), options)).toMatchObject({ archived: 1 });
      expect(off.unmet()).toEqual([]);
    } finally {
      await off.close();
    }
  });
});

describe('money that is open keeps its order', () => {
  it.each([
    [
      'a second payment that must go back',
      async (order: NewOrder) => {
        const second = captureOf(order, { eventId: v7(), paymentId: `again-${order.id}` });
        expect(await repository.recordPayment(second)).toMatchObject({ outcome: 'refund_pending' });
        await fixture.query('DELETE FROM effect');
      },
    ],
    [
      'a payment in quarantine',
      (order: NewOrder) =>
        repository.recordPayment(captureOf(order, { eventId: v7(), paymentId: 'other', amountMinor: 1 })),
    ],
    [
      'an attempt that may still bring money',
      ({ id }: NewOrder) =>
        fixture.query(
          `INSERT INTO payment_attempt (id, order_id, provider, amount_minor, currency, state, created_at, settle_at)
           VALUES (?, ?, 'simulator', 1, 'CNY', 'OPEN', NOW(3), NOW(3))`,
          [bytesOf(v7()), bytesOf(id)],
        ),
    ],
    [
      'a payment that is not kept, though it is paid',
      ({ id }: NewOrder) =>
        fixture.query("UPDATE payment SET state = 'REFUND_FAILED' WHERE order_id = ?", [bytesOf(id)]),
    ],
    [
      'an event that the shop does not have',
      ({ id }: NewOrder) =>
        fixture.query("UPDATE shop_event SET state = 'PARKED' WHERE order_id = ? LIMIT 1", [bytesOf(id)]),
    ],
    [
      'a payment of lately',
      ({ id }: NewOrder) => fixture.query('UPDATE orders SET paid_at = NOW(3) WHERE id = ?', [bytesOf(id)]),
    ],
  ])('%s', async (_what, open) => {
    const sale = await archivedSale();
    const [kept] = sale.paid;
    if (!kept) throw new Error('no order');
    await open(kept);
    expect(await archiveAll(sale)).toEqual({ archived: 2, left: 1 });
    expect(await count('SELECT COUNT(*) AS n FROM orders WHERE id IN (?)', [kept])).toBe(1);
    await fixture.query("UPDATE payment SET state = 'CAPTURED' WHERE state = 'REFUND_FAILED'");
  });

  it('what went back is settled: its order goes, and its payment still hears that the refund failed', async () => {
    const sale = await archivedSale();
    const [order] = sale.paid;
    if (!order) throw new Error('no order');
    const second = captureOf(order, { eventId: v7(), paymentId: `twice-${order.id}` });
    await repository.recordPayment(second);
    await fixture.query('DELETE FROM effect');
    const refundId = v7();
    await fixture.query(
      `UPDATE payment SET state = 'REFUNDED', refunded_at = NOW(3), refund_ref = 'r', refund_id = ?
       WHERE payment_id = ?`,
      [bytesOf(refundId), second.paymentId],
    );
    expect(await archiveAll(sale)).toEqual({ archived: 3, left: 0 });
    const statesNow = async () =>
      (await repository.readTimeline(order.id))?.payments.map(({ state }) => state).sort();
    expect(await statesNow()).toEqual(['CAPTURED', 'REFUNDED']);
    const failure = { paymentId: second.paymentId, refundId, refundRef: null, reason: 'account closed' };
    expect(await repository.recordRefundFailure(failure)).toBe('refund_failed');
    // Not as it was on the day of the archive.
    expect(await statesNow()).toEqual(['CAPTURED', 'REFUND_FAILED']);
    await fixture.query('DELETE FROM audit_finding');
  });
});

describe('what comes for an archived paid order', () => {
  it('the capture that paid it is a duplicate, whenever it comes again, and no money moves', async () => {
    const sale = await archivedSale();
    const [order] = sale.paid;
    if (!order) throw new Error('no order');
    await archiveAll(sale);
    expect(await repository.recordPayment(captureOf(order))).toEqual({ outcome: 'duplicate' });
    const again = captureOf(order, { eventId: v7() });
    expect(await repository.recordPayment(again)).toEqual({ outcome: 'duplicate' });
    await expectBooksHold();
    // Negative control: with its payment gone it would be money for an order that never was, and go back.
    await fixture.query('DELETE FROM payment WHERE order_id = ?', [bytesOf(order.id)]);
    expect(await repository.recordPayment(again)).toEqual({ outcome: 'kept' });
    expect((await judge()).failed[0]?.detail).toMatch(/archived paid order without a payment/);
    await fixture.query('DELETE FROM payment WHERE order_id = ?', [bytesOf(order.id)]);
    await repository.recordPayment(captureOf(order));
    await fixture.query("UPDATE payment SET state = 'CAPTURED' WHERE order_id = ?", [bytesOf(order.id)]);
  });

  it('another payment for it is kept, and goes back', async () => {
    const sale = await archivedSale();
    const [order] = sale.paid;
    if (!order) throw new Error('no order');
    await archiveAll(sale);
    const second = captureOf(order, { eventId: v7(), paymentId: `late-${order.id}` });
    expect(await repository.recordPayment(second)).toEqual({ outcome: 'kept' });
    await fixture.query("UPDATE payment SET received_at = NOW(3) - INTERVAL 1 HOUR WHERE state = 'WAITING'");
    expect(await repository.giveUpWaitingPayments({ olderThanMs: 600_000, limit: 10 })).toEqual([order.id]);
    await expectBooksHold();
  });

  it('once the archive lets go of it, its payment goes too, but for one that is open', async () => {
    const sale = await archivedSale({ paid: 2, closed: 0 });
    const [gone, open] = sale.paid;
    if (!gone || !open) throw new Error('no orders');
    await archiveAll(sale);
    await repository.recordPayment(captureOf(open, { eventId: v7(), paymentId: `open-${open.id}` }));
    await fixture.query('UPDATE order_archive SET archived_at = NOW(3) - INTERVAL 40 DAY');
    await fixture.query('UPDATE payment SET received_at = NOW(3) - INTERVAL 40 DAY');
    // Long gone by then: they are deleted a day after their orders are archived.
    await fixture.query('DELETE FROM message_outbox');
    const forget = { olderThanMs: null, actionsOlderThanMs: null, limit: 500 };
    const { archived } = await repository.forgetFinished({ ...forget, archiveOlderThanMs: 35 * dayMs });
    expect(archived).toBeGreaterThanOrEqual(2);
    expect(await count('SELECT COUNT(*) AS n FROM order_archive WHERE order_id IN (?)', sale.paid)).toBe(0);
    expect(await count('SELECT COUNT(*) AS n FROM payment WHERE order_id IN (?)', [gone])).toBe(0);
    expect(await count('SELECT COUNT(*) AS n FROM payment WHERE order_id IN (?)', [open])).toBe(1);
    expect((await repository.readActivityCounts(sale.activity.id))?.paid).toEqual({ units: 4, orders: 2 });
    await expectBooksHold();
  });
});

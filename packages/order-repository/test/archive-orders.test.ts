import { checkInvariants, createTestRedis, describeVerdict, type TestRedis } from '@lapse/testing';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archiveOrders } from '../src/archive-orders.ts';
import type { Activity, EndedStatus, NewOrder, OrderRepository } from '../src/index.ts';
import {
  captureOf,
  collectLog,
  createActivity,
  createDueOrders,
  type Fixture,
  idsOf,
  newOrder,
  noAnswer,
  openFixture,
} from './fixture.ts';
import { openUnguarded, type Removal, without } from './unguarded.ts';

const dayMs = 86_400_000;
const keep = { olderThanMs: 2 * dayMs, limit: 200 };

let fixture: Fixture;
let repository: OrderRepository;
let activity: Activity;
let redis: TestRedis;
beforeAll(async () => {
  fixture = await openFixture();
  redis = await createTestRedis();
  repository = await fixture.openAnother({ shopEvents: true });
  activity = await createActivity(repository, { capacity: 100_000 });
});
afterAll(async () => {
  await fixture?.close();
  await redis?.close();
});

const bytes = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex');
const bytesOf = (orders: readonly NewOrder[]) => orders.map(({ id }) => bytes(id));
const doAll = async (what: () => Promise<number>): Promise<void> => {
  while ((await what()) > 0);
};

/** What reminder, closer and settler have done once nothing is owed. */
async function settle(): Promise<void> {
  await doAll(() => repository.expandClosedNotices(100));
  await doAll(() => repository.expandShopEvents(100));
  await fixture.query("UPDATE notification SET state = 'SENT', sent_at = NOW(3) WHERE state = 'WAITING'");
  await fixture.query("UPDATE shop_event SET state = 'SENT', sent_at = NOW(3) WHERE state <> 'SENT'");
  await fixture.query('DELETE FROM effect');
  await fixture.query(
    'UPDATE message_outbox SET sent_at = NOW(3), message_id = HEX(id) WHERE sent_at IS NULL',
  );
}

/** As if all that was done to these orders had been done so many days earlier. */
async function age(orders: readonly NewOrder[], days: number): Promise<void> {
  const ids = [bytesOf(orders)];
  const earlier = (column: string) => `${column} = ${column} - INTERVAL ${days} DAY`;
  await fixture.query(
    `UPDATE orders SET idempotency_key = NULL, ${['created_at', 'remind_at', 'expires_at', 'closed_at', 'paid_at'].map(earlier).join(', ')}
     WHERE id IN (?)`,
    ids,
  );
  await fixture.query(`UPDATE order_transition SET ${earlier('at')} WHERE order_id IN (?)`, ids);
}

async function endedOrders(count: number, status: EndedStatus = 'TIMEOUT_CLOSED'): Promise<NewOrder[]> {
  const orders = await createDueOrders(repository, activity, status === 'ABORTED' ? 0 : count);
  if (status === 'TIMEOUT_CLOSED') await repository.closeExpired(idsOf(orders), { cause: 'message' });
  if (status === 'CANCELLED') {
    for (const { id, userId } of orders) await repository.cancelOrder(id, userId);
  }
  if (status === 'ABORTED') {
    for (let n = 0; n < count; n += 1) orders.push(newOrder(activity));
    const holds = orders.map(({ id, userId, quantity }) => ({
      ...{ orderId: id, activityId: activity.id, userId, quantity },
    }));
    await repository.fenceOrphans(holds);
  }
  return orders;
}

async function oldOrders(
  count: number,
  status: EndedStatus = 'TIMEOUT_CLOSED',
  days = 3,
): Promise<NewOrder[]> {
  const orders = await endedOrders(count, status);
  await settle();
  await age(orders, days);
  return orders;
}

async function archiveAll(by = repository, status: EndedStatus = 'TIMEOUT_CLOSED', limit = 200) {
  let archived = 0;
  let left = 0;
  for (let after = null; ; ) {
    const done = await by.archiveOrders({ ...keep, status, limit, after });
    archived += done.archived;
    left += done.left;
    if (done.next === null) return { archived, left };
    after = done.next as never;
  }
}

/** The settler has paid back what is owed of this order, after the payment if there is one. */
async function payBack(orderId: string, payment?: ReturnType<typeof captureOf>): Promise<void> {
  if (payment) expect(await repository.recordPayment(payment)).toMatchObject({ outcome: 'refund_pending' });
  const claimed = await repository.claimRefunds({ provider: 'any', limit: 100, leaseMs: 60_000 });
  const refund = claimed.find((job) => job.orderId === orderId);
  const { id = 0, refundId = '' } = refund ?? {};
  expect(await repository.finishRefund(id, { refundId, refundRef: 'r' })).toBe('finished');
}

/** Of each order: in its own tables, in the archive, or in both. */
async function placesOf(orders: readonly NewOrder[]) {
  const ids = [bytesOf(orders)];
  const count = async (sql: string) => Number((await fixture.query(sql, ids))[0]?.n);
  const tables = ['order_transition', 'notification', 'shop_event', 'payment_attempt', 'payment'];
  let rows = 0;
  for (const table of tables) rows += await count(`SELECT COUNT(*) AS n FROM ${table} WHERE order_id IN (?)`);
  return {
    live: await count('SELECT COUNT(*) AS n FROM orders WHERE id IN (?)'),
    archived: await count('SELECT COUNT(*) AS n FROM order_archive WHERE order_id IN (?)'),
    both: await count(
      'SELECT COUNT(*) AS n FROM orders o JOIN order_archive a ON a.order_id = o.id WHERE o.id IN (?)',
    ),
    rows,
  };
}

async function expectBooksHold(): Promise<void> {
  const verdict = await checkInvariants({ mysqlUrl: fixture.url, redisUrl: redis.url, atRest: false });
  // Redis has no part in these tests.
  const failed = verdict.failed.filter(({ id }) => id !== 'I2');
  expect(
    failed.map(({ detail }) => detail),
    describeVerdict(verdict),
  ).toEqual([]);
}

describe('what ended long ago goes to the archive, whole', () => {
  it.each(['TIMEOUT_CLOSED', 'CANCELLED', 'ABORTED'] as const)(
    'orders that are %s, in batches, with all their rows and their history',
    async (status) => {
      const orders = await oldOrders(25, status);
      const before = await repository.readTimeline(orders[7]?.id ?? '');
      expect(await archiveAll(repository, status, 10)).toEqual({ archived: 25, left: 0 });
      expect(await placesOf(orders)).toEqual({ live: 0, archived: 25, both: 0, rows: 0 });
      const after = await repository.readTimeline(orders[7]?.id ?? '');
      expect(after?.archivedAt).toBeInstanceOf(Date);
      expect({ ...after, archivedAt: null }).toEqual(before);
      const [row] = await fixture.query('SELECT UNCOMPRESS(history) AS json FROM order_archive LIMIT 1');
      expect(JSON.parse(String(row?.json))).toMatchObject({ order: { status: expect.any(String) } });
      await expectBooksHold();
      expect(await archiveAll(repository, status, 10)).toEqual({ archived: 0, left: 0 });
    },
  );

  it('what is younger than the policy, pending or paid stays', async () => {
    const young = await oldOrders(3, 'TIMEOUT_CLOSED', 1);
    const [paid, pending] = await createDueOrders(repository, activity, 2);
    if (!paid || !pending) throw new Error('no orders');
    await repository.recordPayment(captureOf(paid));
    await settle();
    await age([paid, pending], 30);
    expect((await archiveAll()).archived).toBe(0);
    expect(await placesOf([...young, paid, pending])).toMatchObject({ live: 5, archived: 0 });
  });

  it('an order that ended late counts from its end, not from its deadline', async () => {
    const [late] = await oldOrders(1);
    await fixture.query('UPDATE orders SET closed_at = NOW(3) - INTERVAL 1 DAY WHERE id = ?', [
      bytes(late?.id ?? ''),
    ]);
    expect(await archiveAll()).toEqual({ archived: 0, left: 1 });
    await fixture.query('UPDATE orders SET closed_at = NOW(3) - INTERVAL 3 DAY WHERE id = ?', [
      bytes(late?.id ?? ''),
    ]);
    expect(await archiveAll()).toEqual({ archived: 1, left: 0 });
  });
});

/** Something open of an order, which keeps it; and the repository's SQL without the guard that sees it. */
interface Control {
  readonly guard: string;
  readonly open: (order: NewOrder) => Promise<unknown>;
  readonly removal: Removal;
}

const controls: readonly Control[] = [
  {
    guard: 'a notice that waits',
    open: ({ id }) =>
      fixture.query("UPDATE notification SET state = 'WAITING' WHERE order_id = ?", [bytes(id)]),
    removal: without('stage, id, order_id, state,', "stage, id, order_id, 'SENT' AS state,"),
  },
  {
    guard: 'a notice that was given up and waits for a person',
    open: ({ id }) =>
      fixture.query("UPDATE notification SET state = 'PARKED' WHERE order_id = ?", [bytes(id)]),
    removal: without('stage, id, order_id, state,', "stage, id, order_id, 'SENT' AS state,"),
  },
  {
    guard: 'an event that the shop does not have',
    open: ({ id }) =>
      fixture.query("UPDATE shop_event SET state = 'PARKED' WHERE order_id = ? AND type = 'closed'", [
        bytes(id),
      ]),
    removal: without('type, id, order_id, state,', "type, id, order_id, 'SENT' AS state,"),
  },
  {
    guard: 'an effect that is not done',
    open: ({ id }) =>
      fixture.query(
        `INSERT INTO effect (id, batch_id, kind, activity_id, order_ids, created_at)
         VALUES (?, ?, 'release', ?, ?, NOW(3) - INTERVAL 3 DAY)`,
        [bytes(v7()), bytes(v7()), activity.id, Buffer.concat([bytes(v7()), bytes(id)])],
      ),
    removal: without('FROM effect WHERE', 'FROM effect WHERE FALSE AND'),
  },
  {
    guard: 'an effect that was committed with its end, and a little later',
    open: ({ id }) =>
      fixture.query(
        `INSERT INTO effect (id, batch_id, kind, activity_id, order_ids, created_at)
         VALUES (?, ?, 'release', ?, ?, NOW(3) - INTERVAL 2 DAY + INTERVAL 30 MINUTE)`,
        [bytes(v7()), bytes(v7()), activity.id, bytes(id)],
      ),
    removal: without(
      'WHERE created_at <= NOW(3) - INTERVAL ? MICROSECOND',
      'WHERE created_at <= NOW(3) - INTERVAL ? MICROSECOND - INTERVAL 1 HOUR',
    ),
  },
  {
    guard: 'an effect of today that is to tell the shop of a refund',
    open: ({ id }) =>
      fixture.query(
        `INSERT INTO effect (id, batch_id, kind, order_ids, detail) VALUES (?, ?, 'shop_event', ?, 'refunded')`,
        [bytes(v7()), bytes(v7()), bytes(id)],
      ),
    removal: without("detail = 'refunded'", 'FALSE'),
  },
  {
    guard: 'a parked row',
    open: ({ id }) =>
      fixture.query(
        `INSERT INTO parked (kind, ref, body_hash, order_id, phase, reason, created_at)
         VALUES ('order', ?, REPEAT('x', 32), ?, 1, 'bad', NOW(3))`,
        [id, bytes(id)],
      ),
    removal: without("AND state = 'PARKED'", "AND state = 'DROPPED'"),
  },
  {
    guard: 'an attempt to pay that is open',
    open: (order) => insertAttempt(order, 'OPEN'),
    removal: without('currency, state, pay_url', "currency, 'CANCELLED' AS state, pay_url"),
  },
  {
    guard: 'an attempt that took money of which no event has come',
    open: (order) => insertAttempt(order, 'CAPTURED'),
    removal: without('currency, state, pay_url', "currency, 'CANCELLED' AS state, pay_url"),
  },
  {
    guard: 'money that came for it',
    open: async (order) => {
      await fixture.query("UPDATE activity SET late_payment_policy = 'refund'");
      const { outcome } = await repository.recordPayment(captureOf(order));
      expect(outcome).toBe('refund_pending');
    },
    removal: without('currency, state, occurred_at', "currency, 'FAILED' AS state, occurred_at"),
  },
  {
    guard: 'an idempotency key that must still get its answer',
    open: ({ id }) => fixture.query('UPDATE orders SET idempotency_key = id WHERE id = ?', [bytes(id)]),
    removal: without(' AND idempotency_key IS NULL'),
  },
];

function insertAttempt({ id }: NewOrder, state: string) {
  return fixture.query(
    `INSERT INTO payment_attempt (id, order_id, provider, amount_minor, currency, state, created_at, settle_at)
     VALUES (?, ?, 'simulator', 1, 'CNY', ?, NOW(3), NOW(3))`,
    [bytes(v7()), bytes(id), state],
  );
}

describe('what has something open stays', () => {
  it.each(controls)(
    '$guard keeps its order; without the guard it would be gone',
    async ({ open, removal }) => {
      const orders = await oldOrders(3);
      const [kept] = orders;
      if (!kept) throw new Error('no order');
      await open(kept);
      expect(await archiveAll()).toEqual({ archived: 2, left: 1 });
      expect(await placesOf([kept])).toMatchObject({ live: 1, archived: 0 });

      const unguarded = openUnguarded(fixture.url, [removal]);
      try {
        const done = await archiveOrders(unguarded, collectLog([]), {
          ...{ ...keep, status: 'TIMEOUT_CLOSED', after: null },
        });
        expect(done.archived).toBe(1);
        expect(unguarded.unmet()).toEqual([]);
      } finally {
        await unguarded.close();
        await fixture.query('DELETE FROM effect');
        await fixture.query('DELETE FROM parked');
      }
    },
  );

  it('rows that others have locked keep their order until a later call, and nobody waits', async () => {
    const orders = await oldOrders(4);
    const [order, notice] = orders;
    const lockedOrder = await fixture.lockOrder(order?.id ?? '');
    const other = await fixture.lockRow('SELECT id FROM notification WHERE order_id = ? FOR UPDATE', [
      bytes(notice?.id ?? ''),
    ]);
    const startedAt = performance.now();
    const done = await archiveAll();
    const tookMs = performance.now() - startedAt;
    await lockedOrder.release();
    await other.release();
    expect(done).toEqual({ archived: 2, left: 2 });
    expect(tookMs).toBeLessThan(2_000);
    expect(await archiveAll()).toEqual({ archived: 2, left: 0 });
    expect(await placesOf(orders)).toEqual({ live: 0, archived: 4, both: 0, rows: 0 });
  });

  it('an order that MySQL refuses to move stays whole, is logged, and keeps nobody', async () => {
    const orders = await oldOrders(9);
    const bad = orders[4];
    await fixture.query(
      `CREATE TRIGGER refuse BEFORE INSERT ON order_archive FOR EACH ROW
       IF NEW.order_id = UNHEX('${bad?.id.replaceAll('-', '')}') THEN SIGNAL SQLSTATE '45000'; END IF`,
    );
    fixture.logged.length = 0;
    expect(await archiveAll()).toEqual({ archived: 8, left: 1 });
    expect(fixture.logged.map(({ message }) => message)).toEqual(['an order cannot be archived']);
    await fixture.query('DROP TRIGGER refuse');
    expect(await archiveAll()).toEqual({ archived: 1, left: 0 });
    await expectBooksHold();
  });

  it('while more old effects are undone than are looked through, nothing is archived', async () => {
    const orders = await oldOrders(2);
    await fixture.query(
      `INSERT INTO effect (id, batch_id, kind, order_ids, created_at)
       SELECT UNHEX(MD5(CONCAT('e', seq))), UNHEX(MD5(seq)), 'shop_event', REPEAT('x', 16), NOW(3) - INTERVAL 3 DAY
       FROM seq_1_to_1001`,
    );
    const wanted = { ...keep, status: 'TIMEOUT_CLOSED', after: null } as const;
    expect(await repository.archiveOrders(wanted)).toEqual({
      archived: 0,
      left: 2,
      isHeldUp: true,
      next: null,
    });
    await fixture.query('DELETE FROM effect LIMIT 1');
    expect(await archiveAll()).toEqual({ archived: 2, left: 0 });
    await fixture.query('DELETE FROM effect');
    expect(await placesOf(orders)).toMatchObject({ live: 0, archived: 2 });
  });
});

describe('what comes for an archived order', () => {
  it('old messages of both phases, by message or by hand, find no such order and change nothing', async () => {
    const ids = idsOf(await oldOrders(3));
    await archiveAll();
    const closed = await repository.closeExpired(ids, { cause: 'message' });
    const reminded = await repository.remindPending(ids);
    expect([closed.closed, [...closed.unknown].sort()]).toEqual([[], [...ids].sort()]);
    expect([reminded.reminded, [...reminded.unknown].sort()]).toEqual([[], [...ids].sort()]);
    expect(await repository.rearm(2, ids)).toBeNull();
    await expectBooksHold();
  });

  it('money is kept, and goes back as for an order that never was', async () => {
    const [order] = await oldOrders(1);
    if (!order) throw new Error('no order');
    await archiveAll();
    const payment = captureOf(order, { eventId: `late-${order.id}` });
    expect(await repository.recordPayment(payment)).toEqual({ outcome: 'kept' });
    expect(await repository.recordPayment(payment)).toEqual({ outcome: 'kept' });
    await fixture.query("UPDATE payment SET received_at = NOW(3) - INTERVAL 1 HOUR WHERE state = 'WAITING'");
    expect(await repository.giveUpWaitingPayments({ olderThanMs: 600_000, limit: 10 })).toEqual([order.id]);
    const refunds = await repository.listRefunds({ state: 'REFUND_PENDING', afterId: 0, limit: 100 });
    expect(refunds.filter(({ orderId }) => orderId === order.id)).toHaveLength(1);
    await expectBooksHold();
  });

  it('the shop is told of money that went back since, once, in its place, and of nothing a second time', async () => {
    const [order] = await endedOrders(1);
    if (!order) throw new Error('no order');
    const pays = (paymentId: string) => captureOf(order, { eventId: paymentId, paymentId });
    await payBack(order.id, pays(`before-${order.id}`));
    await settle();
    await age([order], 3);
    expect(await archiveAll()).toMatchObject({ archived: 1 });
    await repository.recordPayment(pays(`since-${order.id}`));
    await fixture.query("UPDATE payment SET received_at = NOW(3) - INTERVAL 1 HOUR WHERE state = 'WAITING'");
    await repository.giveUpWaitingPayments({ olderThanMs: 600_000, limit: 10 });
    await payBack(order.id);
    await doAll(() => repository.expandShopEvents(100));
    const told = await repository.claimShopEvents({ limit: 100, leaseMs: 60_000 });
    const mine = told.filter(({ orderId }) => orderId === order.id);
    expect(mine).toMatchObject([{ type: 'refunded' }]);
    expect(JSON.parse(mine[0]?.body ?? '')).toMatchObject({
      type: 'order.refunded',
      // After the close, which is its second version.
      data: {
        orderId: order.id,
        amountMinor: order.amountMinor,
        sequence: 2_500,
        paymentId: `since-${order.id}`,
      },
    });
    await repository.finishShopEvents(mine.map((claim) => ({ claim, outcome: { state: 'SENT' } })));
    const types = (await repository.readTimeline(order.id))?.shopEvents.map(({ type }) => type);
    expect(types).toEqual(['created', 'closed', 'refunded', 'refunded']);
    await expectBooksHold();
  });

  it('money shows in its timeline as it is today, with why it goes back, and a failed refund names its sale', async () => {
    const [order] = await oldOrders(1);
    if (!order) throw new Error('no order');
    await repository.recordPayment(
      captureOf(order, { type: 'payment.failed', eventId: v7(), paymentId: `failed-${order.id}` }),
    );
    await archiveAll();
    const paymentsOf = async () =>
      (await repository.readTimeline(order.id))?.payments.map(({ state, reason }) => [state, reason]);
    expect(await paymentsOf()).toEqual([['FAILED', null]]);
    await repository.recordPayment(captureOf(order));
    expect(await paymentsOf()).toEqual([
      ['FAILED', null],
      ['WAITING', expect.any(String)],
    ]);
    await fixture.query("UPDATE payment SET received_at = NOW(3) - INTERVAL 1 HOUR WHERE state = 'WAITING'");
    await repository.giveUpWaitingPayments({ olderThanMs: 600_000, limit: 10 });
    const why = 'the order is over and archived';
    expect(await paymentsOf()).toContainEqual(['REFUND_PENDING', why]);
    const claimed = await repository.claimRefunds({ provider: 'simulator', limit: 100, leaseMs: 60_000 });
    const due = claimed.find(({ orderId }) => orderId === order.id);
    if (!due) throw new Error('no refund');
    const { paymentId, refundId } = due;
    const failure = { paymentId, refundId, refundRef: null, reason: 'account closed' };
    expect(await repository.recordRefundFailure(failure)).toBe('refund_failed');
    expect(await paymentsOf()).toContainEqual(['REFUND_FAILED', why]);
    const findings = await fixture.query(
      "SELECT activity_id FROM audit_finding WHERE kind = 'refund_failed'",
    );
    expect(findings).toEqual([{ activity_id: activity.id }]);
    await fixture.query('DELETE FROM audit_finding');
    await fixture.query(
      "UPDATE payment SET state = 'REFUNDED', refunded_at = NOW(3) WHERE state = 'REFUND_FAILED'",
    );
  });

  it('its old idempotency key makes a new order, and its buyer may buy again', async () => {
    const [order] = await oldOrders(1);
    if (!order) throw new Error('no order');
    await archiveAll();
    const again = newOrder(activity, { userId: order.userId, idempotencyKey: order.idempotencyKey });
    expect((await repository.createOrders([again])).results).toEqual([{ kind: 'created' }]);
  });

  it('a hold of it that is fenced again keeps its own history', async () => {
    const [order] = await oldOrders(1);
    if (!order) throw new Error('no order');
    await archiveAll();
    const { id, userId, quantity } = order;
    const hold = { orderId: id, activityId: activity.id, userId, quantity };
    expect(await repository.fenceOrphans([hold])).toEqual({ fenced: [id] });
    await expectBooksHold();
    await age([order], 3);
    expect(await archiveAll(repository, 'ABORTED')).toEqual({ archived: 1, left: 0 });
    expect((await repository.readTimeline(id))?.order.status).toBe('TIMEOUT_CLOSED');
    await expectBooksHold();
  });
});

describe('many at once', () => {
  it('two sweepers, buyers who pay late and an operator: each order ends in one place, each place is back once', async () => {
    await fixture.query("UPDATE activity SET late_payment_policy = 'reacquire'");
    const orders = await oldOrders(600);
    const other = await fixture.openAnother({ shopEvents: true });
    const late = orders.filter((_order, index) => index % 20 === 0);
    const pay = async () => {
      const outcomes: string[] = [];
      for (const order of late) outcomes.push((await other.recordPayment(captureOf(order))).outcome);
      return outcomes;
    };
    const closeAgain = async () => {
      for (const { id } of orders.slice(0, 30)) {
        await other.closeByOperator(id, { actor: 'boss', reason: 'x' }, noAnswer);
      }
    };
    const [first, second, outcomes] = await Promise.all([
      archiveAll(repository, 'TIMEOUT_CLOSED', 40),
      archiveAll(other, 'TIMEOUT_CLOSED', 40),
      pay(),
      closeAgain(),
    ]);
    const third = await archiveAll();
    const stayed = outcomes.filter((outcome) => outcome !== 'kept').length;
    expect(first.archived + second.archived + third.archived).toBe(600 - stayed);
    expect(await placesOf(orders)).toMatchObject({ live: stayed, archived: 600 - stayed, both: 0 });
    await expectBooksHold();
  });
});

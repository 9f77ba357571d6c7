import { checkInvariants, createTestRedis, describeVerdict, type TestRedis } from '@lapse/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createBusyActivities } from '../src/busy-activities.ts';
import { cancelOrder } from '../src/cancel-order.ts';
import { closeByOperator } from '../src/close-by-operator.ts';
import { closeExpired } from '../src/close-expired.ts';
import { createOrders } from '../src/create-orders.ts';
import type { Database } from '../src/database.ts';
import type { Activity } from '../src/index.ts';
import { remindPending } from '../src/remind-pending.ts';
import { sweepReminders } from '../src/sweep-reminders.ts';
import {
  captureOf,
  collectLog,
  createActivity,
  createDueOrders,
  newOrder,
  noAnswer,
  openFixture,
} from './fixture.ts';
import { openUnguarded, type Removal, skipping, without } from './unguarded.ts';

const log = collectLog([]);
const hourMs = 3_600_000;

/** One guard, the steps that need it, and what the oracle says of them when it is not there. */
interface Control {
  readonly guard: string;
  /** Taken out of the repository's SQL, or of the schema. */
  readonly removals?: readonly Removal[];
  readonly schema?: readonly string[];
  /** Guards that stand before or behind this one, and would hide that it is gone: off in both runs. */
  readonly alsoOff?: { readonly removals?: readonly Removal[]; readonly schema?: readonly string[] };
  readonly play: (database: Database, activity: Activity) => Promise<unknown>;
  readonly says: RegExp;
}

const statusCompared = without(" AND status = 'PENDING'");

const controls: readonly Control[] = [
  {
    guard: 'compare-and-set: a close takes what is pending alone',
    removals: [statusCompared],
    play: async (database, activity) => {
      const [order] = await createDueOrders(fixture.repository, activity, 1);
      if (!order) throw new Error('no order');
      await fixture.repository.recordPayment(captureOf(order));
      await close(database, order.id);
    },
    says: /FAIL I4 .*step that is not allowed/,
  },
  {
    guard: 'ledger: every change of status leaves its row',
    removals: [skipping('INSERT INTO order_transition')],
    play: async (database, activity) => {
      const [order] = await createDueOrders(fixture.repository, activity, 1);
      await close(database, order?.id ?? '');
    },
    says: /FAIL I4 .*whose status and version are not those of its last step/,
  },
  {
    guard: 'ledger: one row per order and version, so one credit',
    schema: ['ALTER TABLE order_transition DROP PRIMARY KEY'],
    // A worker that writes what it read a moment ago: the key is what is left.
    alsoOff: { removals: [statusCompared, without('version = version + 1', 'version = 2')] },
    play: async (database, activity) => {
      // Another order holds a place, so that the schema's bound does not refuse the second credit.
      await fixture.repository.createOrders([newOrder(activity)]);
      const [order] = await createDueOrders(fixture.repository, activity, 1);
      await close(database, order?.id ?? '');
      await close(database, order?.id ?? '').catch(() => undefined);
    },
    says: /FAIL I5 .*credits in MySQL are neither nothing nor its quantity, once/,
  },
  {
    guard: 'database clock: it alone says what is due',
    removals: [without(' AND expires_at <= NOW(3)')],
    play: async (database, activity) => {
      const order = newOrder(activity);
      await fixture.repository.createOrders([order]);
      await close(database, order.id);
    },
    says: /FAIL I7 .*closed before its deadline/,
  },
  {
    guard: 'database clock: it says so to an operator too',
    removals: [without('TIMESTAMPDIFF(MICROSECOND, expires_at, NOW(3)) AS late_us', '1 AS late_us')],
    play: async (database, activity) => {
      const order = newOrder(activity);
      await fixture.repository.createOrders([order]);
      await closeByOperator(database, order.id, { actor: 'boss', reason: 'too early' }, noAnswer);
    },
    says: /FAIL I7 .*closed before its deadline/,
  },
  {
    guard: 'settling: an order that is being paid waits for its provider',
    removals: [without('settle_until IS NULL OR', 'TRUE OR')],
    play: async (database, activity) => {
      const order = newOrder(activity);
      await fixture.repository.createOrders([order]);
      await fixture.repository.openAttempt({ orderId: order.id, userId: order.userId, provider: 'model' });
      await fixture.query(
        `UPDATE orders SET expires_at = NOW(3) - INTERVAL 1 SECOND, settle_until = NOW(3) + INTERVAL 1 HOUR`,
      );
      await fixture.query('UPDATE activity SET payment_grace_ms = 3600000');
      await close(database, order.id);
    },
    says: /FAIL I7 .*closed while it was being paid/,
  },
  {
    guard: 'conditional decrement: no more is sold than there is',
    removals: [without(' AND available >= CASE', ' AND 0 < CASE')],
    // The column itself refuses to go below zero.
    alsoOff: { schema: ['ALTER TABLE activity MODIFY available INT NOT NULL'] },
    play: async (database, activity) => {
      const orders = Array.from({ length: 3 }, () => newOrder(activity, { quantity: 40 }));
      for (const order of orders) await createOrders(database, createBusyActivities(), [order]);
    },
    says: /FAIL I1 .*more units sold and held than its capacity/,
  },
  {
    guard: 'idempotency key: one order of a buyer and key',
    schema: ['DROP INDEX orders_idempotency_key ON orders'],
    play: async (database, activity) => {
      const first = newOrder(activity);
      await createOrders(database, createBusyActivities(), [first]);
      // The buyer may have another one then, and the repeat of the first request is not it.
      await cancelOrder(database, first.id, first.userId);
      const { userId, idempotencyKey } = first;
      await createOrders(database, createBusyActivities(), [newOrder(activity, { userId, idempotencyKey })]);
    },
    says: /FAIL I10 .*with the buyer and idempotency key of another/,
  },
  {
    guard: 'outbox: what a new order must be reminded by is in its commit',
    removals: [skipping('INSERT INTO message_outbox')],
    play: async (database, activity) => {
      const remindAt = new Date(Date.now() - hourMs);
      await createOrders(database, createBusyActivities(), [newOrder(activity, { remindAt })]);
      await sweepReminders(database, log, { graceMs: 0, after: null });
    },
    says: /FAIL I11 .*still pending and unreminded/,
  },
  {
    guard: 'claim of a reminder: once an order',
    removals: [without(' AND reminded_at IS NULL')],
    alsoOff: { schema: ['DROP INDEX notification_once ON notification'] },
    play: async (database, activity) => {
      const order = newOrder(activity, { remindAt: new Date(Date.now() - hourMs) });
      await fixture.repository.createOrders([order]);
      for (let time = 0; time < 2; time += 1) await remindPending(database, log, [order.id]);
    },
    says: /FAIL I9 .*more than one notice of the same stage/,
  },
  {
    guard: 'notice of a close: promised in its commit',
    removals: [skipping('INSERT INTO effect')],
    play: async (database, activity) => {
      const [order] = await createDueOrders(fixture.repository, activity, 1);
      await close(database, order?.id ?? '');
      await fixture.repository.expandClosedNotices(10);
    },
    says: /FAIL I11 .*order that closed and whose buyer is never told/,
  },
  {
    guard: 'notice of a reminder: written in its claim',
    removals: [skipping('INSERT INTO notification')],
    play: async (database, activity) => {
      const order = newOrder(activity, { remindAt: new Date(Date.now() - hourMs) });
      await fixture.repository.createOrders([order]);
      await remindPending(database, log, [order.id]);
    },
    says: /FAIL I11 .*claimed for its reminder in time and whose buyer is never reminded/,
  },
];

let fixture: Awaited<ReturnType<typeof openFixture>>;
let redis: TestRedis;

beforeAll(async () => {
  redis = await createTestRedis();
});
afterAll(() => redis.close());
/** The schema is changed: each test has its own. */
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

function close(database: Database, orderId: string) {
  return closeExpired(database, log, createBusyActivities(), [orderId], { cause: 'message' });
}

/** What the oracle says once the steps were taken without these guards. */
async function judge(
  play: Control['play'],
  removals: readonly Removal[],
  schema: readonly string[],
): Promise<string> {
  for (const change of schema) await fixture.query(change);
  const database = openUnguarded(fixture.url, removals);
  try {
    await play(database, await createActivity(fixture.repository));
    expect(database.unmet()).toEqual([]);
  } finally {
    await database.close();
  }
  return describeVerdict(
    await checkInvariants({ mysqlUrl: fixture.url, redisUrl: redis.url, atRest: true, overdueMs: 0 }),
  );
}

it('generation fence: a hold of an older generation becomes no order; negative control: without it, it does', async () => {
  const activity = await createActivity(fixture.repository);
  await fixture.repository.rebuildSnapshot(activity.id, async () => 'run-1');
  const kindWith = async (...removals: Removal[]) => {
    const database = openUnguarded(fixture.url, removals);
    const { results } = await createOrders(database, createBusyActivities(), [newOrder(activity)]);
    expect(database.unmet()).toEqual([]);
    await database.close();
    return results[0]?.kind;
  };
  expect(await kindWith()).toBe('stale_generation');
  expect(await kindWith(without(' AND generation = CASE', ' AND 0 < CASE'))).toBe('created');
});

describe.each(controls)('$guard', ({ removals = [], schema = [], alsoOff = {}, play, says }) => {
  it('holds', async () => {
    expect(await judge(play, alsoOff.removals ?? [], alsoOff.schema ?? [])).not.toMatch(says);
  });

  it('negative control: without it the oracle finds the fault', async () => {
    const all = [...(alsoOff.removals ?? []), ...removals];
    expect(await judge(play, all, [...(alsoOff.schema ?? []), ...schema])).toMatch(says);
  });
});

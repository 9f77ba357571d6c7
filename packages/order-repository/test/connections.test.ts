import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sortedIdBytes } from '../src/binary-id.ts';
import { openDatabase } from '../src/database.ts';
import { type OrderRepository, StoreUnavailableError } from '../src/index.ts';
import {
  captureOf,
  collectLog,
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

const database = () => new URL(fixture.url).pathname.slice(1);

async function openTransactions(): Promise<number> {
  const rows = await fixture.query(
    `SELECT t.trx_id FROM information_schema.innodb_trx t
     JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id WHERE p.db = ?`,
    [database()],
  );
  return rows.length;
}

async function connections(): Promise<number> {
  const rows = await fixture.query('SELECT id FROM information_schema.processlist WHERE db = ?', [
    database(),
  ]);
  // Less the one that asks.
  return rows.length - 1;
}

test('no transaction is left open, whatever went wrong inside it', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository, { capacity: 20 });
  const orders = await createDueOrders(repository, activity, 10);
  await fixture.query(
    "CREATE TRIGGER bad_order BEFORE UPDATE ON orders FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'",
  );
  const failures = await Promise.allSettled([
    repository.closeExpired(idsOf(orders.slice(0, 5)), { cause: 'message' }),
    repository.recordPayment(captureOf(orders[6] ?? newOrder(activity))),
    repository.cancelOrder(orders[7]?.id ?? '', orders[7]?.userId ?? ''),
    repository.rebuildSnapshot(activity.id, () => Promise.reject(new Error('no Redis'))),
    repository.createOrders([newOrder(activity, { quantity: 1_000 })]),
    repository.createOrders([newOrder(activity, { currency: 'TOO LONG' })]),
  ]);
  expect(failures.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'rejected',
    'fulfilled',
    'rejected',
  ]);
  await waitUntil(async () => (await openTransactions()) === 0, {
    what: 'no transaction to be open',
    everyMs: innodbLookMs,
  });
  await fixture.query('DROP TRIGGER bad_order');
});

test('a pool of one serves many callers, and an operation that cannot get a connection gives up in seconds', async () => {
  const narrow = await fixture.openAnother({ poolMax: 1 });
  const activity = await createActivity(narrow);
  const many = Array.from({ length: 50 }, () => narrow.createOrders([newOrder(activity)]));
  expect((await Promise.all(many)).every(({ results }) => results[0]?.kind === 'created')).toBe(true);

  let answer: Promise<unknown> = Promise.resolve();
  const startedAt = performance.now();
  await narrow.rebuildSnapshot(activity.id, async () => {
    answer = narrow.ping().catch((error: unknown) => error);
    await answer;
    return 'run-1';
  });
  expect(await answer).toBeInstanceOf(StoreUnavailableError);
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  await narrow.ping();
});

test('closing leaves no connection, and waits for what is under way', async () => {
  const before = await connections();
  const other: OrderRepository = await fixture.openAnother();
  const activity = await createActivity(other);
  const orders = await createDueOrders(other, activity, 50);
  const closing = other.closeExpired(idsOf(orders), { cause: 'message' });
  await other.close();
  expect((await closing).closed).toHaveLength(50);
  await waitUntil(async () => (await connections()) <= before, {
    what: 'connections to end',
    timeoutMs: 5_000,
  });
  await other.close();
});

test('the server itself frees the locks of a process that went silent, within a minute and a half', async () => {
  const database = openDatabase({ url: fixture.url, poolMax: 1, queryTimeoutMs: 5_000 }, collectLog([]));
  try {
    const [limits] = await database.withSession((session) =>
      session.rows<{ session: number; transaction: number }>(
        `SELECT @@wait_timeout AS session,
           /*M! @@idle_transaction_timeout + */ 0 AS transaction`,
      ),
    );
    expect(limits?.session).toBe(90);
    // MySQL knows no limit inside a transaction, and answers 0.
    expect([0, 30]).toContain(Number(limits?.transaction));
  } finally {
    await database.close();
  }
});

test('two thousand ids are read and changed along the primary key, in its order, by MariaDB too', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository, { capacity: 10_000 });
  const orders = await createDueOrders(repository, activity, 2_500);
  const database = openDatabase({ url: fixture.url, poolMax: 1, queryTimeoutMs: 5_000 }, collectLog([]));
  try {
    const ids = sortedIdBytes(idsOf(orders.slice(0, 2_000)));
    const explain = (sql: string) =>
      database.withSession((session) =>
        session.rows<{ table: string; type: string; key: string; Extra: string }>(`EXPLAIN ${sql}`, [ids]),
      );
    const plans = [
      await explain(
        "SELECT id FROM orders FORCE INDEX (PRIMARY) WHERE id IN (?) AND status = 'PENDING' ORDER BY id FOR UPDATE SKIP LOCKED",
      ),
      await explain(
        "UPDATE orders FORCE INDEX (PRIMARY) SET version = 2 WHERE id IN (?) AND status = 'PENDING'",
      ),
    ];
    for (const plan of plans) {
      expect(plan).toMatchObject([{ table: 'orders', type: 'range', key: 'PRIMARY' }]);
      expect(plan[0]?.Extra).not.toContain('filesort');
    }
  } finally {
    await database.close();
  }
});

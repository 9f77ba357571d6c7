import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MariadbService, startMariadb } from '@lapse/local-services';
import { queryDatabase, waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  CommitUnknownError,
  isUnavailable,
  migrate,
  type OrderRepository,
  openOrderRepository,
} from '../src/index.ts';
import {
  captureOf,
  collectLog,
  createActivity,
  createDueOrders,
  idsOf,
  newOrder,
  newWorkerReport,
  noAnswer,
} from './fixture.ts';

/** A server of this file's own: to kill, to freeze, and to count the statements of. */
let server: MariadbService;
let folder: string;
let repository: OrderRepository;
const log = collectLog([]);
const queryTimeoutMs = 1_000;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lapse-outage-'));
  server = await startMariadb({ dir: folder, database: 'outage', log: () => undefined });
  await migrate({ url: server.url }, log);
  repository = await openOrderRepository({ url: server.url, poolMax: 6, queryTimeoutMs }, log);
}, 120_000);
beforeEach(() => server.start());
afterAll(async () => {
  await repository.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

test('killed under load and restarted: no order lost, none half done, every failure says what it is', async () => {
  const activity = await createActivity(repository, { capacity: 100_000 });
  const created: string[] = [];
  const failures: unknown[] = [];
  let stop = false;
  const buy = async () => {
    while (!stop) {
      const orders = Array.from({ length: 10 }, () => newOrder(activity, { expiresAt: new Date() }));
      try {
        const { results } = await repository.createOrders(orders);
        orders.forEach((order, index) => {
          if (results[index]?.kind === 'created') created.push(order.id);
        });
        await repository.closeExpired(idsOf(orders.slice(0, 5)), { cause: 'message' });
        for (const order of orders.slice(8)) await repository.recordPayment(captureOf(order));
      } catch (error) {
        failures.push(error);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  };
  const buyers = [buy(), buy(), buy(), buy()];
  const some = async (list: readonly unknown[], count: number) => list.length >= count;
  await waitUntil(() => some(created, 200), { what: 'sales', timeoutMs: 20_000 });
  server.kill('SIGKILL');
  await waitUntil(() => some(failures, 8), { what: 'failures', timeoutMs: 20_000 });
  await server.start();
  const before = created.length;
  await waitUntil(() => some(created, before + 200), {
    what: 'sales again, by the same pool',
    timeoutMs: 20_000,
  });
  stop = true;
  await Promise.all(buyers);

  expect(failures.filter((error) => !isUnavailable(error) && !(error instanceof CommitUnknownError))).toEqual(
    [],
  );
  const rows = await queryDatabase(server.url, 'SELECT LOWER(HEX(id)) AS id FROM orders');
  const there = new Set(rows.map(({ id }) => id));
  expect(created.filter((id) => !there.has(id.replaceAll('-', '')))).toEqual([]);
  const [books] = await queryDatabase(
    server.url,
    `SELECT a.capacity - a.available AS taken, SUM(IF(o.status IN ('PENDING', 'PAID'), o.quantity, 0)) AS held,
       (SELECT COUNT(*) FROM order_transition) AS steps, SUM(o.version) AS versions,
       (SELECT SUM(order_count) FROM message_outbox WHERE phase = 1) AS armed, COUNT(*) AS orders
     FROM activity a JOIN orders o ON o.activity_id = a.id GROUP BY a.id`,
  );
  expect(Number(books?.taken)).toBe(Number(books?.held));
  expect(Number(books?.steps)).toBe(Number(books?.versions));
  expect(Number(books?.armed)).toBe(Number(books?.orders));
}, 90_000);

test('while MySQL is away operations fail at once, and opening a repository does too', async () => {
  await server.stop();
  const startedAt = performance.now();
  const failure = await repository.ping().catch((error: unknown) => error);
  expect(isUnavailable(failure)).toBe(true);
  expect(failure).toMatchObject({ code: 'LAPSE_MYSQL_UNAVAILABLE' });
  const opening = openOrderRepository({ url: server.url, poolMax: 1, queryTimeoutMs }, log);
  expect(isUnavailable(await opening.catch((error: unknown) => error))).toBe(true);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  // The clock goes on by itself.
  expect(Math.abs(repository.now() - Date.now())).toBeLessThan(1_000);
});

test('a frozen MySQL is given up after the query timeout, and the pool recovers once it thaws', async () => {
  const activity = await createActivity(repository);
  const orders = await createDueOrders(repository, activity, 20);
  server.kill('SIGSTOP');
  // A signal takes a moment: it is frozen once it does not answer.
  const answered = () =>
    repository.ping().then(
      () => true,
      () => false,
    );
  await waitUntil(async () => !(await answered()), { what: 'the server to freeze', timeoutMs: 20_000 });
  const startedAt = performance.now();
  const answers = await Promise.all(
    [repository.ping(), repository.closeExpired(idsOf(orders), { cause: 'message' })].map((asked) =>
      asked.then(
        () => 'answered',
        (error: unknown) => (isUnavailable(error) ? 'unavailable' : error),
      ),
    ),
  );
  // Two tries of one second, and three to get a new connection.
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  expect(answers).toEqual(['unavailable', 'unavailable']);
  server.kill('SIGCONT');
  let closed = 0;
  await waitUntil(
    async () => {
      const result = await repository.closeExpired(idsOf(orders), { cause: 'message' });
      closed += result.closed.length;
      return closed + result.settled.length === 20 && result.contended.length === 0;
    },
    { what: 'the batch to be closed', timeoutMs: 20_000 },
  );
  expect((await repository.readActivity(activity.id))?.available).toBe(100);
}, 60_000);

async function questions(): Promise<number> {
  const [row] = await queryDatabase(server.url, "SHOW GLOBAL STATUS LIKE 'Questions'");
  return Number(row?.Value);
}

/** SET time_zone, SHOW, and leaving. */
async function costOfAsking(): Promise<number> {
  const first = await questions();
  return (await questions()) - first;
}

test('the heartbeat of a known process is one statement, which also tells what is wanted of it', async () => {
  const report = newWorkerReport();
  expect(await repository.reportWorker(report)).toEqual({ wanted: 'RUN' });
  const options = { dryRun: false, actor: 'boss', reason: 'a new release' };
  await repository.setWorkerWanted(report.id, 'PAUSE', options, noAnswer);
  const asking = await costOfAsking();
  const start = await questions();
  expect(await repository.reportWorker(report)).toEqual({ wanted: 'PAUSE' });
  expect((await questions()) - start - asking).toBe(1);
});

test('a batch of one activity takes 8 statements to close and 6 to create, however many its orders', async () => {
  const activity = await createActivity(repository, { capacity: 10_000 });
  const due = await createDueOrders(repository, activity, 1_000);
  const orders = Array.from({ length: 500 }, () => newOrder(activity));
  const asking = await costOfAsking();
  const start = await questions();
  await repository.closeExpired(idsOf(due), { cause: 'message' });
  const closed = await questions();
  await repository.createOrders(orders);
  const created = await questions();
  expect(closed - start - asking).toBe(8);
  expect(created - closed - asking).toBe(6);
});

test('a primary that is read only after a failover is left: the next operation goes through a new connection', async () => {
  const root = (sql: string) => queryDatabase(server.url, sql);
  // Without the right to write all the same, as a service is.
  await root("CREATE USER 'shop'@'%' IDENTIFIED BY 'shop'");
  await root("GRANT SELECT, INSERT, UPDATE, DELETE ON outage.* TO 'shop'@'%'");
  const url = new URL(server.url);
  url.username = 'shop';
  url.password = 'shop';
  const shop = await openOrderRepository({ url: url.href, poolMax: 2, queryTimeoutMs }, log);
  const connections = async () => {
    const rows = await root("SELECT id FROM information_schema.processlist WHERE user = 'shop'");
    return rows.map(({ id }) => Number(id));
  };
  try {
    await createActivity(shop);
    const before = await connections();
    expect(before.length).toBeGreaterThan(0);
    await root('SET GLOBAL read_only = ON');
    // Reads go on there, and say nothing.
    await shop.ping();
    const failure = await createActivity(shop).catch((error: unknown) => error);
    expect(isUnavailable(failure)).toBe(true);
    await root('SET GLOBAL read_only = OFF');
    await createActivity(shop);
    const after = await connections();
    expect(after.filter((id) => before.includes(id))).toEqual([]);
  } finally {
    await root('SET GLOBAL read_only = OFF');
    await shop.close();
    await root("DROP USER 'shop'@'%'");
  }
}, 30_000);

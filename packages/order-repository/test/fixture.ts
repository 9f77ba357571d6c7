import { randomBytes, randomUUID } from 'node:crypto';
import { createActivityBody, type WorkerReport } from '@lapse/contracts';
import { createTestDatabase, holdLock, queryDatabase } from '@lapse/testing';
import { v7 } from 'uuid';
import {
  type Activity,
  migrate,
  type NewOrder,
  type OrderRepository,
  openOrderRepository,
  type RepositoryLog,
  type SettleResult,
  type StoredAnswer,
} from '../src/index.ts';

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
}

export interface Fixture {
  readonly url: string;
  readonly repository: OrderRepository;
  readonly logged: LogLine[];
  /** One statement on a connection of its own. */
  query(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Another pool on the same database, closed with the fixture. */
  openAnother(options?: {
    url?: string;
    poolMax?: number;
    queryTimeoutMs?: number;
    shopEvents?: boolean;
  }): Promise<OrderRepository>;
  /** Hold an order's, or an activity's, row lock in a transaction of another session. */
  lockOrder(id: string): Promise<{ release(): Promise<void> }>;
  lockActivity(id: number): Promise<{ release(): Promise<void> }>;
  /** What a locking read finds. */
  lockRow(sql: string, values: readonly unknown[]): Promise<{ release(): Promise<void> }>;
  close(): Promise<void>;
}

/** A migrated database of its own, and a repository on it. */
export async function openFixture(): Promise<Fixture> {
  const database = await createTestDatabase();
  const logged: LogLine[] = [];
  const log = collectLog(logged);
  await migrate({ url: database.url }, log);
  const opened: OrderRepository[] = [];
  const openAnother: Fixture['openAnother'] = async (options = {}) => {
    const config = { url: database.url, poolMax: 8, queryTimeoutMs: 10_000, ...options };
    const repository = await openOrderRepository(config, log);
    opened.push(repository);
    return repository;
  };
  return {
    url: database.url,
    repository: await openAnother(),
    logged,
    query: (sql, values) => queryDatabase(database.url, sql, values),
    openAnother,
    lockOrder: (id) =>
      holdLock(database.url, 'SELECT id FROM orders WHERE id = ? FOR UPDATE', [
        Buffer.from(id.replaceAll('-', ''), 'hex'),
      ]),
    lockActivity: (id) => holdLock(database.url, 'SELECT id FROM activity WHERE id = ? FOR UPDATE', [id]),
    lockRow: (sql, values) => holdLock(database.url, sql, values),
    close: async () => {
      for (const repository of opened) await repository.close();
      // Fails when a connection was left open.
      await database.drop();
    },
  };
}

export function collectLog(lines: LogLine[]): RepositoryLog {
  const keep = (level: LogLine['level']) => (_fields: object, message: string) => {
    lines.push({ level, message });
  };
  return { info: keep('info'), warn: keep('warn'), error: keep('error') };
}

export function createActivity(
  repository: OrderRepository,
  body: Partial<Parameters<typeof createActivityBody.parse>[0] & object> = {},
): Promise<Activity> {
  return repository.createActivity(
    createActivityBody.parse({ name: 'A show', capacity: 100, priceMinor: 1_500, currency: 'CNY', ...body }),
  );
}

let buyers = 0;

/** A new order of a new buyer, due in 15 minutes unless said. */
export function newOrder(activity: Activity, change: Partial<NewOrder> = {}): NewOrder {
  const createdAt = new Date();
  buyers += 1;
  return {
    id: v7(),
    activityId: activity.id,
    generation: activity.generation,
    userId: `buyer-${buyers}`,
    quantity: 1,
    amountMinor: activity.priceMinor * (change.quantity ?? 1),
    currency: activity.currency,
    locale: 'en',
    createdAt,
    remindAt: new Date(createdAt.getTime() + activity.remindAfterMs),
    expiresAt: new Date(createdAt.getTime() + activity.payWithinMs),
    idempotencyKey: `key-${buyers}`,
    requestHash: randomBytes(32),
    ...change,
  };
}

/** Orders in the database whose reminder and deadline passed `lateMs` ago. */
export async function createDueOrders(
  repository: OrderRepository,
  activity: Activity,
  count: number,
  lateMs = 1_000,
): Promise<NewOrder[]> {
  const due = new Date(Date.now() - lateMs);
  const orders = Array.from({ length: count }, () => newOrder(activity, { remindAt: due, expiresAt: due }));
  for (let start = 0; start < count; start += 500) {
    const { results } = await repository.createOrders(orders.slice(start, start + 500));
    const refused = results.find(({ kind }) => kind !== 'created');
    if (refused) throw new Error(`an order was not created: ${refused.kind}`);
  }
  return orders;
}

export function captureOf(
  order: NewOrder,
  change: Partial<Parameters<OrderRepository['recordPayment']>[0]> = {},
) {
  return {
    eventId: `event-${order.id}`,
    type: 'payment.captured' as 'payment.captured' | 'payment.failed',
    paymentId: `payment-${order.id}`,
    orderId: order.id,
    amountMinor: order.amountMinor,
    currency: order.currency,
    occurredAt: new Date(),
    ...change,
  };
}

export function idsOf(orders: readonly NewOrder[]): string[] {
  return orders.map(({ id }) => id);
}

/** What a process says of itself. */
export function newWorkerReport(change: Partial<WorkerReport> = {}): WorkerReport {
  return {
    id: randomUUID(),
    kind: 'closer',
    host: 'machine-1',
    pid: 7,
    version: '1.2.3',
    uptimeMs: 2_000,
    heartbeatMs: 5_000,
    state: 'RUNNING',
    wanted: 'RUN',
    figures: { inHand: 3, latenessP99Ms: 18 },
    ...change,
  };
}

/** For a test that looks at what was done, not at what is answered. */
export const noAnswer = (): StoredAnswer => ({ status: 200, body: Buffer.from('{}') });

/** What became of the rows that an operator settled. */
export async function outcomesOf<Outcome>(
  asked: Promise<SettleResult<Outcome>>,
): Promise<readonly Outcome[]> {
  const settled = await asked;
  if (settled.kind !== 'done') throw new Error(`nothing was settled: ${settled.kind}`);
  return settled.result;
}

/**
 * How often to look at `information_schema.innodb_trx`: InnoDB answers from a copy, and makes no new one while somebody
 * reads it more often than every 100 ms.
 */
export const innodbLookMs = 250;

import { createHash } from 'node:crypto';
import type { CreateActivityBody, OutboxRow, TimeoutOrder } from '@lapse/contracts';
import { type Activity, migrate, type OrderRepository, openOrderRepository } from '@lapse/order-repository';
import { createLogger, type Logger } from '@lapse/runtime';
import { openStock, type Stock } from '@lapse/stock';
import { createTestDatabase, createTestRedis, queryDatabase, type TestRedis } from '@lapse/testing';
import { v7 as uuidv7 } from 'uuid';

/** LAPSE_TEST_LOG=1 shows what the parts under test report. */
export const log: Logger = createLogger('test', process.env.LAPSE_TEST_LOG ? 'info' : 'fatal');

/** A logger that keeps its lines, parsed, for a test that is about them. */
export function captureLog(): { log: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { log: createLogger('test', 'debug', destination), lines };
}

/** A database and a Redis database of this test file alone, with the real repository and stock on them. */
export interface Shop {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly orders: OrderRepository;
  readonly stock: Stock;
  readonly query: (sql: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
  /** Number of rows that a SELECT COUNT(*) answers. */
  readonly count: (sql: string, values?: readonly unknown[]) => Promise<number>;
  readonly flushRedis: () => Promise<void>;
  /** One command behind the back of the stock. */
  readonly redisCommand: (name: string, ...args: (string | number)[]) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

export interface ShopOptions {
  readonly shopEvents?: boolean;
  /** A Redis that the test may stop; one of this file alone is made by default. */
  readonly redis?: TestRedis;
}

export async function openShop({ shopEvents = false, ...given }: ShopOptions = {}): Promise<Shop> {
  const database = await createTestDatabase();
  const redis = given.redis ?? (await createTestRedis());
  const config = { url: database.url, poolMax: 8, queryTimeoutMs: 10_000, shopEvents };
  await migrate(config, log);
  const orders = await openOrderRepository(config, log);
  const stock = await openStock({ url: redis.url, commandTimeoutMs: 2_000 }, log);
  const query: Shop['query'] = (sql, values) => queryDatabase(database.url, sql, values);
  return {
    databaseUrl: database.url,
    redisUrl: redis.url,
    orders,
    stock,
    query,
    count: async (sql, values) => Number(Object.values((await query(sql, values))[0] ?? {})[0]),
    flushRedis: redis.flush,
    redisCommand: redis.command,
    close: async () => {
      await stock.close();
      await orders.close();
      await redis.close();
      await database.drop();
    },
  };
}

/** An activity on sale, with its stock loaded into Redis. */
export async function openActivity(
  shop: Shop,
  capacity: number,
  change: Partial<CreateActivityBody> = {},
): Promise<Activity> {
  const { id } = await shop.orders.createActivity({
    name: 'Tickets',
    capacity,
    priceMinor: 12_800,
    currency: 'CNY',
    saleStartsAt: null,
    saleEndsAt: null,
    payWithinMs: 900_000,
    remindAfterMs: 600_000,
    quantityMax: 4,
    latePaymentPolicy: 'refund',
    paymentGraceMs: 30_000,
    ...change,
  });
  const refused = await shop.orders
    .rebuildSnapshot(id, ({ available, ...snapshot }) =>
      shop.stock.load({ ...snapshot, stock: available }, ''),
    )
    .catch((error: unknown) => error);
  const activity = await shop.orders.readActivity(id);
  // A sweeper that the test runs may have been quicker, as in the product.
  if (!activity?.stockRunId) throw refused ?? new Error('the activity is not there');
  return activity;
}

export interface OrderTimes {
  /** From now to the reminder, and to the deadline; negative: they have passed. */
  readonly remindInMs: number;
  readonly expireInMs: number;
  /** English unless said. */
  readonly locale?: string;
}

export interface PlacedOrders {
  readonly ids: string[];
  /** Their phase-1 outbox rows, which nobody has sent. */
  readonly outbox: OutboxRow[];
  /** As a message of phase 1 names them, and one of phase 2. */
  readonly remindDue: TimeoutOrder[];
  readonly closeDue: TimeoutOrder[];
}

/** The way of the producer: reserve in Redis, then insert in batches. One user and one unit each. */
export async function placeOrders(
  shop: Shop,
  activity: Activity,
  count: number,
  times: OrderTimes,
  ids: readonly string[] = Array.from({ length: count }, () => uuidv7()),
): Promise<PlacedOrders> {
  const atMs = Math.floor(shop.orders.now());
  const expiresAt = new Date(atMs + times.expireInMs);
  const remindAt = new Date(atMs + times.remindInMs);
  const createdAt = new Date(Math.min(atMs, remindAt.getTime() - 1));
  const outbox: OutboxRow[] = [];
  for (let at = 0; at < count; at += 256) {
    const batch = ids.slice(at, at + 256).map((id) => ({
      id,
      activityId: activity.id,
      generation: activity.generation,
      userId: `buyer ${id}`,
      quantity: 1,
      amountMinor: activity.priceMinor,
      currency: activity.currency,
      locale: times.locale ?? 'en',
      createdAt,
      remindAt,
      expiresAt,
      idempotencyKey: `key-${id}`,
      requestHash: createHash('sha256').update(id).digest(),
    }));
    const holds = await Promise.all(
      batch.map(({ id, ...order }) =>
        shop.stock.reserve({ ...order, stockRunId: activity.stockRunId, orderId: id }),
      ),
    );
    if (holds.some(({ kind }) => kind !== 'reserved')) throw new Error('a hold was refused');
    const { results, outbox: row } = await shop.orders.createOrders(batch);
    if (results.some(({ kind }) => kind !== 'created'))
      throw new Error(`not created: ${JSON.stringify(results)}`);
    if (row) outbox.push(row);
  }
  const dueAt = (time: Date): TimeoutOrder[] =>
    ids.map((orderId) => ({
      orderId,
      activityId: activity.id,
      userId: `buyer ${orderId}`,
      createTime: createdAt.getTime(),
      dueTime: time.getTime(),
    }));
  return { ids: [...ids], outbox, remindDue: dueAt(remindAt), closeDue: dueAt(expiresAt) };
}

/** Free units in both stores, and those held in Redis. */
export async function readStock(
  shop: Shop,
  activityId: number,
): Promise<{ mysql: number; redis: number; held: number }> {
  const activity = await shop.orders.readActivity(activityId);
  const counts = await shop.stock.readCounts(activityId);
  return { mysql: activity?.available ?? -1, redis: counts?.stock ?? -1, held: counts?.held ?? -1 };
}

/** Credits in the ledger of MySQL: one for each order that gave its stock back. */
export function countCredits(shop: Shop, activityId: number): Promise<number> {
  return shop.count('SELECT COUNT(*) FROM order_transition WHERE activity_id = ? AND credit > 0', [
    activityId,
  ]);
}

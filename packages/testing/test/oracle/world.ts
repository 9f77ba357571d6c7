import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Redis } from 'ioredis';
import { type Connection, createConnection } from 'mysql2/promise';
import { createTestDatabase, createTestRedis } from '../../src/index.ts';
import { createSchema } from './schema.ts';

/** A small system at rest, true to the last row, in which a test breaks one thing. */
export interface World {
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  readonly sql: Connection;
  readonly redis: Redis;
  /** One of each: what became of it is its name. */
  readonly orders: Readonly<Record<OrderName, SeedOrder>>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

type OrderName = 'pending' | 'paid' | 'closed' | 'cancelled' | 'aborted' | 'late';

export interface SeedOrder {
  /** As text, and as the expression that SQL needs. */
  readonly id: string;
  readonly bytes: Buffer;
  readonly user: string;
  readonly quantity: number;
}

export const activity = { id: 42, capacity: 10, keys: 'activity:{42}' } as const;
const tables = [
  ...[
    'activity',
    'orders',
    'order_transition',
    'message_outbox',
    'effect',
    'notification',
    'payment',
    'payment_attempt',
    'shop_event',
    'audit_finding',
    'parked',
    'order_archive',
  ],
];

export async function openWorld(): Promise<World> {
  const database = await createTestDatabase();
  const store = await createTestRedis();
  const sql = await createConnection({ uri: database.url, timezone: 'Z' });
  await sql.query("SET SESSION time_zone = '+00:00'");
  await createSchema(sql);
  const redis = new Redis(store.url);
  const orders = {
    pending: seedOrder('a:b "ü" 🧾', 2),
    paid: seedOrder('paid', 1),
    closed: seedOrder('closed', 3),
    cancelled: seedOrder('cancelled', 1),
    aborted: seedOrder('aborted', 1),
    late: seedOrder('late', 1),
  };
  return {
    mysqlUrl: database.url,
    redisUrl: store.url,
    sql,
    redis,
    orders,
    reset: async () => {
      for (const table of tables) await sql.query(`DELETE FROM ${table}`);
      await restoreUniqueKeys(sql);
      await seedMysql(sql, orders, await readRunId(redis));
      await redis.flushdb();
      await seedRedis(redis, orders);
    },
    close: async () => {
      await sql.end();
      await redis.quit();
      await database.drop();
      await store.close();
    },
  };
}

/** Some violations can only be planted once the key that prevents them is gone. */
async function restoreUniqueKeys(sql: Connection): Promise<void> {
  for (const key of [
    'notification ADD UNIQUE KEY notification_once (order_id, stage)',
    'orders ADD UNIQUE KEY orders_idempotency_key (user_id, idempotency_key)',
  ]) {
    try {
      await sql.query(`ALTER TABLE ${key}`);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ER_DUP_KEYNAME') throw error;
    }
  }
}

function seedOrder(user: string, quantity: number): SeedOrder {
  const bytes = randomBytes(16);
  const id = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { id, bytes, user, quantity };
}

/** Minutes from now, as SQL. */
const minutes = (count: number): string => `NOW(3) + INTERVAL ${count} MINUTE`;

async function readRunId(redis: Redis): Promise<string> {
  return /run_id:(\w+)/.exec(await redis.info('server'))?.[1] ?? '';
}

async function seedMysql(sql: Connection, orders: World['orders'], runId: string): Promise<void> {
  await sql.query(
    `INSERT INTO activity (id, name, capacity, available, price_minor, currency, pay_within_ms, remind_after_ms,
       quantity_max, late_payment_policy, generation, stock_run_id, created_at)
     VALUES (?, 'Concert', ?, 7, 500, 'EUR', 900000, 600000, 4, 'refund', 3, ?, NOW(3))`,
    [activity.id, activity.capacity, runId],
  );
  const insert = async (order: SeedOrder, status: string, created: number, times: Record<string, string>) => {
    const columns = Object.keys(times).map((name) => `, ${name}`);
    const values = Object.values(times).map((value) => `, ${value}`);
    const version = status === 'PENDING' || status === 'ABORTED' ? 1 : 2;
    const key = status === 'ABORTED' ? null : 'key';
    await sql.query(
      `INSERT INTO orders (id, activity_id, user_id, quantity, amount_minor, currency, locale, status, version,
         created_at, remind_at, expires_at, idempotency_key, request_hash ${columns.join('')})
       VALUES (?, ?, ?, ?, 500, 'EUR', 'en', ?, ?, ${minutes(created)}, ${minutes(created + 10)},
         ${minutes(created + 15)}, ?, ? ${values.join('')})`,
      [
        order.bytes,
        activity.id,
        Buffer.from(order.user),
        order.quantity,
        status,
        version,
        key,
        Buffer.alloc(32),
      ],
    );
  };
  await insert(orders.pending, 'PENDING', -12, { reminded_at: minutes(-2) });
  await insert(orders.paid, 'PAID', -12, { reminded_at: minutes(-2), paid_at: minutes(-1) });
  await insert(orders.closed, 'TIMEOUT_CLOSED', -20, { reminded_at: minutes(-10), closed_at: minutes(-5) });
  await insert(orders.cancelled, 'CANCELLED', -20, { closed_at: minutes(-18) });
  await insert(orders.late, 'TIMEOUT_CLOSED', -30, { reminded_at: minutes(-20), closed_at: minutes(-15) });
  await insert(orders.aborted, 'ABORTED', -20, { closed_at: minutes(-20) });
  await step(sql, orders.pending, 1, null, 'PENDING', 'create', minutes(-12));
  await step(sql, orders.paid, 1, null, 'PENDING', 'create', minutes(-12));
  await step(sql, orders.paid, 2, 'PENDING', 'PAID', 'payment', minutes(-1));
  await step(sql, orders.closed, 1, null, 'PENDING', 'create', minutes(-20));
  await step(sql, orders.cancelled, 1, null, 'PENDING', 'create', minutes(-20));
  await step(sql, orders.cancelled, 2, 'PENDING', 'CANCELLED', 'buyer', minutes(-18), 1);
  await step(sql, orders.late, 1, null, 'PENDING', 'create', minutes(-30));
  await step(sql, orders.aborted, 1, null, 'ABORTED', 'sweep', minutes(-20));
  // 20 ms late, and 400.
  const closeAt = (order: SeedOrder, ms: number): string =>
    `(SELECT expires_at FROM orders WHERE id = 0x${order.bytes.toString('hex')}) + INTERVAL ${ms * 1_000} MICROSECOND`;
  await step(sql, orders.closed, 2, 'PENDING', 'TIMEOUT_CLOSED', 'message', closeAt(orders.closed, 20), 3);
  await step(sql, orders.late, 2, 'PENDING', 'TIMEOUT_CLOSED', 'sweep', closeAt(orders.late, 400), 1);
  for (const order of [orders.pending, orders.paid, orders.closed, orders.late]) {
    await notice(sql, order, 'REMINDER', 'SENT');
  }
  for (const order of [orders.closed, orders.late]) await notice(sql, order, 'CLOSED', 'SENT');
  await payment(sql, orders.paid, 'CAPTURED');
  await payment(sql, orders.late, 'REFUND_PENDING');
}

export async function step(
  sql: Connection,
  order: SeedOrder,
  version: number,
  from: string | null,
  to: string,
  cause: string,
  at: string,
  credit = 0,
): Promise<void> {
  await sql.query(
    `INSERT INTO order_transition (order_id, version, activity_id, from_status, to_status, cause, at, credit)
     VALUES (?, ?, ?, ?, ?, ?, ${at}, ?)`,
    [order.bytes, version, activity.id, from, to, cause, credit],
  );
}

export async function notice(sql: Connection, order: SeedOrder, stage: string, state: string): Promise<void> {
  await sql.query(
    `INSERT INTO notification (order_id, stage, state, next_attempt_at, created_at)
     VALUES (?, ?, ?, NOW(3), ${minutes(-2)})`,
    [order.bytes, stage, state],
  );
}

export async function payment(sql: Connection, order: SeedOrder, state: string, amount = 500): Promise<void> {
  await sql.query(
    `INSERT INTO payment (event_id, type, payment_id, order_id, amount_minor, currency, state, occurred_at, received_at)
     VALUES (?, 'captured', ?, ?, ?, 'EUR', ?, NOW(3), NOW(3))`,
    [randomBytes(8), randomBytes(8), order.bytes, amount, state],
  );
}

/** Retention takes an order away, with all that is its own. */
export async function archive(sql: Connection, order: SeedOrder): Promise<void> {
  await sql.query(
    `INSERT INTO order_archive (order_id, activity_id, user_id, status, quantity, credit, debit, finished_at,
       archived_at, history)
     SELECT o.id, o.activity_id, o.user_id, o.status, o.quantity, SUM(t.credit), SUM(t.debit), COALESCE(o.closed_at, o.paid_at),
       NOW(3), '{}'
     FROM orders o JOIN order_transition t ON t.order_id = o.id WHERE o.id = ? GROUP BY o.id`,
    [order.bytes],
  );
  await vanish(sql, order);
}

/**
 * The sale is over for good: who was pending has never been, the paid order is in the archive with its place and its
 * payment, and Redis has forgotten all of it.
 */
export async function archiveSale({ sql, redis, orders }: World): Promise<void> {
  await vanish(sql, orders.pending);
  await sql.query('UPDATE payment SET order_id = ? WHERE order_id = ?', [
    Buffer.alloc(16),
    orders.paid.bytes,
  ]);
  await archive(sql, orders.paid);
  await sql.query('UPDATE payment SET order_id = ? WHERE order_id = ?', [
    orders.paid.bytes,
    Buffer.alloc(16),
  ]);
  await sql.query(`UPDATE activity SET available = 9, archived_at = NOW(3), generation = 4, stock_run_id = NULL,
    sold_archived_orders = 1, sold_archived_units = 1`);
  await redis.flushdb();
}

/** All rows of an order are gone. */
export async function vanish(sql: Connection, order: SeedOrder): Promise<void> {
  for (const table of ['order_transition', 'notification', 'shop_event', 'payment_attempt', 'payment']) {
    await sql.query(`DELETE FROM ${table} WHERE order_id = ?`, [order.bytes]);
  }
  await sql.query('DELETE FROM orders WHERE id = ?', [order.bytes]);
}

/** The message by which an order was to be reminded: sent long ago. */
export async function sentMessage(sql: Connection, order: SeedOrder): Promise<void> {
  const body = JSON.stringify([{ orderId: order.id, activityId: activity.id }]);
  await sql.query(
    `INSERT INTO message_outbox (id, phase, body, order_count, due_at, created_at, sent_at)
     VALUES (?, 1, ?, 1, NOW(3), NOW(3), NOW(3))`,
    [randomBytes(16), body],
  );
}

/** An attempt to pay, as it is at the provider. */
export async function attempt(sql: Connection, order: SeedOrder, state: string): Promise<void> {
  await sql.query(
    `INSERT INTO payment_attempt (id, order_id, provider, amount_minor, currency, state, created_at, settle_at)
     VALUES (?, ?, 'simulator', 500, 'EUR', ?, NOW(3), NOW(3))`,
    [randomBytes(16), order.bytes, state],
  );
}

/** An order that is in MySQL nowhere but where it is named. */
export function unknownOrder(): SeedOrder {
  return seedOrder('nobody', 1);
}

/** An event for the shop; `sentAt` is SQL, such as `NOW(3)`. */
export async function shopEvent(
  sql: Connection,
  order: SeedOrder,
  seq: number,
  state: string,
  sentAt = 'NULL',
  type = 'closed',
): Promise<void> {
  await sql.query(
    `INSERT INTO shop_event (event_id, order_id, seq, type, body, state, next_attempt_at, created_at, sent_at)
     VALUES (?, ?, ?, ?, '{}', ?, NOW(3), ${minutes(-2)}, ${sentAt})`,
    [randomBytes(16), order.bytes, seq, type, state],
  );
}

/** The late payer gets a free place after all, in both stores: lawful, and the start of several faults. */
export async function takeAgain({ sql, redis, orders: { late } }: World): Promise<void> {
  await step(sql, late, 3, 'TIMEOUT_CLOSED', 'PAID', 'payment', 'NOW(3)');
  await sql.query('UPDATE order_transition SET debit = 1 WHERE order_id = ? AND version = 3', [late.bytes]);
  await sql.query("UPDATE orders SET version = 3, status = 'PAID', paid_at = NOW(3) WHERE id = ?", [
    late.bytes,
  ]);
  await sql.query("UPDATE payment SET state = 'CAPTURED' WHERE order_id = ?", [late.bytes]);
  await sql.query('UPDATE activity SET available = 6');
  await redis.decr(`${activity.keys}:stock`);
  await redis.hset(`${activity.keys}:holds`, late.id, `s:1:1700000000000:${late.user}`);
  await redis.sadd(`${activity.keys}:users`, late.user);
}

async function seedRedis(redis: Redis, orders: World['orders']): Promise<void> {
  const { pending, paid, closed, cancelled, aborted } = orders;
  await redis.set(`${activity.keys}:stock`, 7);
  await redis.set(`${activity.keys}:gen`, 3);
  await redis.set(`${activity.keys}:capacity`, `1:${activity.capacity}`);
  await redis.sadd(`${activity.keys}:users`, pending.user, paid.user);
  await redis.hset(`${activity.keys}:holds`, {
    [pending.id]: `h:${pending.quantity}:1700000000000:${pending.user}`,
    [paid.id]: `s:${paid.quantity}:1700000000000:${paid.user}`,
    // `late` is absent: markers are forgotten after a while.
    [closed.id]: 'r:0:1700000000000:',
    [cancelled.id]: 'r:0:1700000000000:',
    [aborted.id]: 'r:0:1700000000000:',
  });
  // Whoever had an order here, ever; who was fenced had none.
  await redis.setrange(`${activity.keys}:seen`, seenBits / 8 - 1, '\0');
  for (const order of [pending, paid, closed, cancelled, orders.late]) {
    await redis.setbit(`${activity.keys}:seen`, seenBitOf(order), 1);
  }
}

const seenBits = 8_192;

/** Where the map of buyers has an order's buyer. */
export function seenBitOf({ user }: SeedOrder): number {
  return crc32(user) % seenBits;
}

import type { Pool } from 'mysql2/promise';
import { digits } from '../digits.ts';

const dayMs = 86_400_000;
const yearMs = 365 * dayMs;
/** A sale every three or four days. */
const salesOfYear = 100;
/** In one transaction: what `digits` numbers at once. */
const ordersPerChunk = 10_000;
const ordersPerMessage = 250;
const idsPerSale = 1_000_000;

export interface Year {
  readonly sales: number;
  readonly orders: number;
}

/**
 * A year of sales that went as sales go: of 20 orders 12 closed unpaid, 7 were paid and one was cancelled; each was
 * reminded, and told of its close. With all rows that Lapse leaves of them, made inside MySQL, since a million orders over
 * the wire would take an hour; nothing of it is owed any more. The newest sale ended three days ago.
 * @param orders of the whole year, in full chunks of each sale.
 */
export async function fillYear(mysql: Pool, orders: number, say: (line: string) => void): Promise<Year> {
  const chunksPerSale = Math.max(1, Math.round(orders / salesOfYear / ordersPerChunk));
  const perSale = Math.min(chunksPerSale * ordersPerChunk, idsPerSale);
  const sales = Math.max(1, Math.round(orders / perSale));
  const yearBegan = Date.now() - yearMs;
  for (let sale = 0; sale < sales; sale += 1) {
    const startedMs = yearBegan + Math.floor((sale * (yearMs - 4 * dayMs)) / sales);
    await fillSale(mysql, startedMs, perSale);
    if ((sale + 1) % Math.ceil(sales / 10) === 0) say(`  ${(sale + 1) * perSale} orders are there`);
  }
  await mysql.query('ANALYZE TABLE orders, order_transition, notification, payment, message_outbox');
  return { sales, orders: sales * perSale };
}

async function fillSale(mysql: Pool, startedMs: number, orders: number): Promise<void> {
  const started = new Date(startedMs);
  const ended = new Date(startedMs + dayMs);
  const sold = (orders / 20) * 7;
  const [{ insertId }] = await mysql.query<never>(
    `INSERT INTO activity (name, capacity, available, price_minor, currency, sale_ends_at, pay_within_ms,
       remind_after_ms, quantity_max, late_payment_policy, created_at)
     VALUES ('A sale of the year', ?, ?, 8800, 'CNY', ?, 900000, 600000, 1, 'refund', ?)`,
    [orders, orders - sold, ended, started],
  );
  for (let from = 0; from < orders; from += ordersPerChunk) {
    const values = [startedMs, insertId, from, started, insertId];
    await mysql.query(insertOrders, values);
    const range = [idOf(startedMs, insertId, from), idOf(startedMs, insertId, from + ordersPerChunk - 1)];
    for (const statement of rowsOfOrders) await mysql.query(statement, range);
    for (let at = from; at < from + ordersPerChunk; at += ordersPerMessage) {
      await insertMessages(mysql, startedMs, insertId, at);
    }
  }
}

/** A UUID version 7 that rises with the time and the number of its order; `insertOrders` makes the same. */
function idOf(startedMs: number, activityId: number, n: number): Buffer {
  const time = (startedMs + n).toString(16).padStart(12, '0');
  const rest = (activityId * idsPerSale + n).toString(16).padStart(12, '0');
  return Buffer.from(`${time}70008000${rest}`, 'hex');
}

/** One order a millisecond. What became of it is its number's: 0 to 6 of 20 paid, 7 cancelled, the rest closed. */
const insertOrders = `
  INSERT INTO orders (id, activity_id, user_id, quantity, amount_minor, currency, locale, status, version, created_at,
    remind_at, expires_at, reminded_at, paid_at, closed_at, request_hash)
  SELECT id, activity_id, CONCAT('buyer-', LOWER(HEX(id))), 1, 8800, 'CNY', 'en',
    CASE WHEN n % 20 < 7 THEN 'PAID' WHEN n % 20 = 7 THEN 'CANCELLED' ELSE 'TIMEOUT_CLOSED' END, 2, at,
    at + INTERVAL 10 MINUTE, at + INTERVAL 15 MINUTE, IF(n % 20 = 7, NULL, at + INTERVAL 10 MINUTE),
    IF(n % 20 < 7, at + INTERVAL 11 MINUTE, NULL),
    CASE WHEN n % 20 < 7 THEN NULL WHEN n % 20 = 7 THEN at + INTERVAL 1 MINUTE
      ELSE at + INTERVAL 15 MINUTE + INTERVAL 20000 MICROSECOND END,
    UNHEX(SHA2(id, 256))
  FROM (
    SELECT n, UNHEX(CONCAT(LPAD(HEX(started_ms + n), 12, '0'), '70008000',
        LPAD(HEX(activity_id * ${idsPerSale} + n), 12, '0'))) AS id, activity_id,
      started + INTERVAL n * 1000 MICROSECOND AS at
    FROM (SELECT ? AS started_ms, ? AS activity_id, ? + a.d + 10 * b.d + 100 * c.d + 1000 * d.d AS n, ? AS started
      FROM ${digits} a, ${digits} b, ${digits} c, ${digits} d) AS number
  ) AS buyer WHERE activity_id = ?`;

const those = 'FROM orders FORCE INDEX (PRIMARY) WHERE id BETWEEN ? AND ?';
const rowsOfOrders = [
  `INSERT INTO order_transition (order_id, version, activity_id, to_status, cause, at, credit)
   SELECT id, 1, activity_id, 'PENDING', 'create', created_at, 0 ${those}`,
  `INSERT INTO order_transition (order_id, version, activity_id, from_status, to_status, cause, at, credit)
   SELECT id, 2, activity_id, 'PENDING', status,
     CASE status WHEN 'PAID' THEN 'payment' WHEN 'CANCELLED' THEN 'buyer' ELSE 'message' END,
     COALESCE(paid_at, closed_at), IF(status = 'PAID', 0, 1) ${those}`,
  `INSERT INTO notification (order_id, stage, state, attempts, next_attempt_at, created_at, sent_at)
   SELECT id, 'REMINDER', 'SENT', 1, reminded_at, reminded_at, reminded_at ${those} AND reminded_at IS NOT NULL`,
  `INSERT INTO notification (order_id, stage, state, attempts, next_attempt_at, created_at, sent_at)
   SELECT id, 'CLOSED', 'SENT', 1, closed_at, closed_at, closed_at ${those} AND status = 'TIMEOUT_CLOSED'`,
  `INSERT INTO payment (event_id, type, payment_id, order_id, amount_minor, currency, state, occurred_at, received_at)
   SELECT CONCAT('evt-', LOWER(HEX(id))), 'payment.captured', CONCAT('pay-', LOWER(HEX(id))), id, amount_minor,
     currency, 'CAPTURED', paid_at, paid_at ${those} AND status = 'PAID'`,
] as const;

/** The message of each phase that names these orders: sent, and looked after. */
async function insertMessages(
  mysql: Pool,
  startedMs: number,
  activityId: number,
  from: number,
): Promise<void> {
  const orders = Array.from({ length: ordersPerMessage }, (_, index) => {
    const hex = idOf(startedMs, activityId, from + index).toString('hex');
    const orderId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    const createTime = startedMs + from + index;
    return { orderId, activityId, userId: `buyer-${hex}`, createTime, dueTime: createTime + 600_000 };
  });
  const body = JSON.stringify(orders);
  const row = (phase: 1 | 2, dueMs: number) => {
    const due = new Date(dueMs);
    const id = idOf(startedMs + phase, activityId, from);
    return [id, phase, body, orders.length, due, new Date(startedMs), due, due, phase === 1 ? due : null];
  };
  await mysql.query(
    `INSERT INTO message_outbox (id, phase, body, order_count, due_at, created_at, sent_at, deliver_at, swept_at)
     VALUES ?`,
    [[row(1, startedMs + from + 600_000), row(2, startedMs + from + 900_000)]],
  );
}

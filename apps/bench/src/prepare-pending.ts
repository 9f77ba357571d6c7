import type { Pool } from 'mysql2/promise';
import { digits } from './digits.ts';
import { withLapseStores } from './lapse-stores.ts';
import type { RunStores } from './open-stores.ts';
import { farMs, openActivity } from './sale.ts';

/** What one load of Redis holds in memory. */
const ordersPerActivityMax = 100_000;
/** In one transaction. */
const ordersPerInsertMax = 20_000;

/**
 * From a number to an order: UUID version 7 of the time `createdAt` in ms, which rises from order to order, and a buyer
 * and a key of its own.
 */
const insertOrders = `
  INSERT INTO orders (id, activity_id, user_id, quantity, amount_minor, currency, locale, status, version,
    created_at, remind_at, expires_at, idempotency_key, request_hash)
  SELECT id, ?, CONCAT('buyer-', LOWER(HEX(id))), 1, 8800, 'CNY', 'en', 'PENDING', 1,
    ? + INTERVAL n * 1000 MICROSECOND, ? + INTERVAL n * 1000 MICROSECOND, ? + INTERVAL n * 1000 MICROSECOND,
    CONCAT('key-', LOWER(HEX(id))), UNHEX(SHA2(id, 256))
  FROM (
    SELECT n, UNHEX(CONCAT(LPAD(HEX(? + n), 12, '0'), '70008000', LPAD(HEX(? * 100000 + n), 12, '0'))) AS id
    FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d AS n
      FROM ${digits} a, ${digits} b, ${digits} c, ${digits} d, ${digits} e) AS number
    WHERE n >= ? AND n < ?
  ) AS buyer`;

/**
 * Put orders beside the sale that are pending and not due for a day, with the rows of the producer's and the load of
 * Redis that Lapse makes itself. Made inside MySQL, since a million of them over the wire would take minutes. Only their
 * outbox rows are not there: sent ones, which nothing reads again.
 */
export async function preparePending(stores: RunStores, orders: number): Promise<void> {
  if (orders === 0) return;
  await withLapseStores(stores, async (lapse) => {
    let sold: number | undefined;
    for (let at = 0; at < orders; at += ordersPerActivityMax) {
      const places = Math.min(ordersPerActivityMax, orders - at);
      const { id } = await openActivity(lapse, places);
      // MySQL writes the next one while Redis takes the one before.
      await Promise.all([
        sellOut(stores.mysql, id, places),
        sold === undefined ? undefined : lapse.load(sold),
      ]);
      sold = id;
    }
    if (sold !== undefined) await lapse.load(sold);
    // As it is long before so many orders are there; else MySQL counts them while it is measured.
    await stores.mysql.query('ANALYZE TABLE orders, order_transition');
  });
}

async function sellOut(mysql: Pool, activityId: number, places: number): Promise<void> {
  const now = Date.now();
  // One activity after the other, so that ids rise over all of them, and all are older than those of the sale.
  const createdAtMs = now - farMs + activityId * ordersPerActivityMax;
  const times = [createdAtMs, now + farMs / 2, now + farMs].map((ms) => new Date(ms));
  for (let from = 0; from < places; from += ordersPerInsertMax) {
    const to = Math.min(places, from + ordersPerInsertMax);
    await mysql.query(insertOrders, [activityId, ...times, createdAtMs, activityId, from, to]);
  }
  await mysql.query(
    `INSERT INTO order_transition (order_id, version, activity_id, to_status, cause, at, credit)
     SELECT id, version, activity_id, status, 'create', created_at, 0 FROM orders WHERE activity_id = ? ORDER BY id`,
    [activityId],
  );
  await mysql.query('UPDATE activity SET available = 0 WHERE id = ?', [activityId]);
}

import { holds } from '../spoil.ts';
import { activity, archive, archiveSale, payment, sentMessage, step, takeAgain, vanish } from '../world.ts';
import type { Plant } from './plant.ts';

/** Steps of orders, and the places that each gives back once: I4 and I5. */
export const steps: readonly Plant[] = [
  {
    name: 'an order that vanished, of which only its message tells',
    plant: async ({ sql, orders }) => {
      await sentMessage(sql, orders.closed);
      await vanish(sql, orders.closed);
    },
    fails: ['I4'],
    says: /1 × order that vanished/,
    order: 'closed',
    always: true,
  },
  {
    name: 'an order that is in the archive twice over: there, and among the orders',
    plant: async ({ sql, orders }) => {
      await archive(sql, orders.closed);
      await sql.query(
        `INSERT INTO orders (id, activity_id, user_id, quantity, amount_minor, currency, locale, status, version,
           created_at, remind_at, expires_at, request_hash)
         VALUES (?, 42, 'closed', 3, 500, 'EUR', 'en', 'TIMEOUT_CLOSED', 1, NOW(3), NOW(3), NOW(3), '')`,
        [orders.closed.bytes],
      );
    },
    fails: ['I4'],
    says: /1 × order that is in the archive and still among the orders/,
    order: 'closed',
    always: true,
  },
  {
    name: 'an archived order that kept its stock',
    plant: async ({ sql, orders }) => {
      await archive(sql, orders.closed);
      await sql.query('UPDATE order_archive SET credit = 0');
    },
    fails: ['I5'],
    says: /1 × archived order that did not give its stock back/,
    order: 'closed',
    always: true,
  },
  {
    name: 'an order that took a place in an archived activity',
    plant: async (here) => {
      await archiveSale(here);
      await here.sql.query('UPDATE activity SET archived_at = NOW(3) - INTERVAL 19 MINUTE');
      await here.sql.query('UPDATE order_transition SET at = NOW(3) WHERE order_id = ? AND version = 1', [
        here.orders.cancelled.bytes,
      ]);
    },
    fails: ['I4'],
    says: /1 × order that is pending in an archived activity, or took a place there since/,
    order: 'cancelled',
    always: true,
  },
  {
    name: 'a paid order that closed afterwards',
    plant: async ({ sql, orders }) => {
      await step(sql, orders.paid, 3, 'PAID', 'TIMEOUT_CLOSED', 'sweep', 'NOW(3) + INTERVAL 1 HOUR');
      await sql.query("UPDATE orders SET version = 3, status = 'TIMEOUT_CLOSED' WHERE id = ?", [
        orders.paid.bytes,
      ]);
    },
    fails: ['I1', 'I3', 'I4', 'I5', 'I6', 'I11'],
    says: /1 × step that is not allowed/,
    order: 'paid',
    always: true,
  },
  {
    name: 'an order that left PENDING twice',
    plant: async ({ sql, orders }) => {
      await step(sql, orders.cancelled, 3, 'PENDING', 'CANCELLED', 'buyer', 'NOW(3)');
      await sql.query('UPDATE orders SET version = 3 WHERE id = ?', [orders.cancelled.bytes]);
    },
    fails: ['I4'],
    says: /1 × order that left PENDING more than once/,
    order: 'cancelled',
    always: true,
  },
  {
    name: 'a status without a step',
    plant: ({ sql, orders }) =>
      sql.query('UPDATE orders SET version = 2 WHERE id = ?', [orders.pending.bytes]),
    fails: ['I4'],
    says: /1 × order whose status and version are not those of its last step/,
    order: 'pending',
    always: true,
  },
  {
    name: 'a step that the order does not know of',
    plant: ({ sql, orders }) => step(sql, orders.pending, 2, 'PENDING', 'PAID', 'payment', 'NOW(3)'),
    fails: ['I4'],
    says: /order whose status and version are not those of its last step/,
    order: 'pending',
    always: true,
  },
  {
    name: 'an order without its first step',
    plant: ({ sql, orders }) =>
      sql.query('DELETE FROM order_transition WHERE order_id = ? AND version = 1', [orders.cancelled.bytes]),
    fails: ['I4'],
    says: /1 × step that is not allowed, or does not follow/,
    order: 'cancelled',
    always: true,
  },
  {
    name: 'a step of an order that does not exist',
    plant: async ({ sql, orders }) => {
      await sql.query('DELETE FROM orders WHERE id = ?', [orders.cancelled.bytes]);
    },
    fails: ['I4'],
    says: /1 × step of an order that does not exist/,
    order: 'cancelled',
    always: true,
  },
  {
    name: 'a second credit in MySQL',
    plant: ({ sql, orders }) =>
      sql.query('UPDATE order_transition SET credit = 3 WHERE order_id = ? AND version = 1', [
        orders.closed.bytes,
      ]),
    fails: ['I5'],
    says: /1 × order whose credits in MySQL are neither nothing nor its quantity, once/,
    order: 'closed',
    always: true,
  },
  {
    name: 'half a credit in MySQL',
    plant: ({ sql, orders }) =>
      sql.query('UPDATE order_transition SET credit = 1 WHERE order_id = ? AND version = 2', [
        orders.closed.bytes,
      ]),
    fails: ['I5'],
    says: /neither nothing nor its quantity/,
    order: 'closed',
    always: true,
  },
  {
    name: 'a closed order that never gave its stock back in MySQL',
    plant: ({ sql, orders }) =>
      sql.query('UPDATE order_transition SET credit = 0 WHERE order_id = ?', [orders.cancelled.bytes]),
    fails: ['I5'],
    says: /1 × closed order that did not give its stock back in MySQL/,
    order: 'cancelled',
    always: true,
  },
  {
    name: 'a pending order that gave its stock back',
    plant: ({ sql, orders }) =>
      sql.query('UPDATE order_transition SET credit = 2 WHERE order_id = ?', [orders.pending.bytes]),
    fails: ['I5'],
    says: /1 × order that gave stock back without being closed/,
    order: 'pending',
    always: true,
  },
  {
    name: 'a closed order that never gave its stock back in Redis',
    plant: async ({ redis, orders }) => {
      await redis.hset(holds, orders.closed.id, `h:3:1700000000000:${orders.closed.user}`);
      await redis.decrby(`${activity.keys}:stock`, 3);
      await redis.sadd(`${activity.keys}:users`, orders.closed.user);
    },
    fails: ['I3', 'I5'],
    says: /1 × closed order that did not give its stock back in Redis/,
    order: 'closed',
  },
  {
    name: 'a place taken again twice',
    plant: async (world) => {
      await takeAgain(world);
      await world.sql.query('UPDATE order_transition SET debit = 2 WHERE debit = 1');
    },
    fails: ['I5', 'I6'],
    says: /1 × order whose debits in MySQL are neither nothing nor its quantity, once/,
    order: 'late',
    always: true,
  },
  {
    name: 'a place taken again by a closed order',
    plant: ({ sql, orders }) =>
      sql.query('UPDATE order_transition SET debit = 3 WHERE order_id = ? AND version = 2', [
        orders.closed.bytes,
      ]),
    fails: ['I5'],
    says: /1 × order that took stock again without being paid/,
    order: 'closed',
    always: true,
  },
  {
    name: 'a cancelled order that was paid afterwards',
    plant: async ({ sql, redis, orders: { cancelled } }) => {
      await step(sql, cancelled, 3, 'CANCELLED', 'PAID', 'payment', 'NOW(3)');
      await sql.query('UPDATE order_transition SET debit = 1 WHERE order_id = ? AND version = 3', [
        cancelled.bytes,
      ]);
      await sql.query("UPDATE orders SET version = 3, status = 'PAID' WHERE id = ?", [cancelled.bytes]);
      await payment(sql, cancelled, 'CAPTURED');
      await sql.query('UPDATE activity SET available = 6');
      await redis.decr(`${activity.keys}:stock`);
      await redis.hset(holds, cancelled.id, `s:1:1700000000000:${cancelled.user}`);
      await redis.sadd(`${activity.keys}:users`, cancelled.user);
    },
    fails: ['I4'],
    says: /1 × step that is not allowed/,
    order: 'cancelled',
    always: true,
  },
];

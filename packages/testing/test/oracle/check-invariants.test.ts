import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkInvariants, describeVerdict, type InvariantId, type OracleOptions } from '../../src/index.ts';
import {
  activity,
  archive,
  archiveSale,
  attempt,
  notice,
  openWorld,
  payment,
  type SeedOrder,
  seenBitOf,
  sentMessage,
  shopEvent,
  step,
  takeAgain,
  unknownOrder,
  vanish,
  type World,
} from './world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.reset());

const judge = (options: Partial<OracleOptions> = {}) =>
  checkInvariants({ mysqlUrl: world.mysqlUrl, redisUrl: world.redisUrl, atRest: true, ...options });

/** What is planted, which invariants the oracle must name, and the order it must name with them. */
interface Plant {
  readonly name: string;
  readonly plant: (world: World) => Promise<unknown>;
  readonly fails: readonly InvariantId[];
  readonly says: RegExp;
  readonly order?: keyof World['orders'];
  /** Seen while the system runs, too. */
  readonly always?: true;
  /** Of an order that is not there: seen whichever activities are asked for. */
  readonly ofNobody?: true;
}

const holds = `${activity.keys}:holds`;
const plants: readonly Plant[] = [
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
    name: 'an archived place that its activity does not count',
    plant: async (here) => {
      await archiveSale(here);
      await here.sql.query('UPDATE activity SET sold_archived_orders = 0, sold_archived_units = 0');
    },
    fails: ['I1'],
    says: /1 × activity whose available units.*; 1 × activity that counts fewer archived places/,
    order: 'paid',
    always: true,
  },
  {
    name: 'a place that is counted as archived and not taken',
    plant: async (here) => {
      await archiveSale(here);
      await here.sql.query('UPDATE activity SET sold_archived_units = 2');
    },
    fails: ['I1'],
    says: /1 × activity whose available units/,
    always: true,
  },
  {
    name: 'an archived paid order whose payment is gone',
    plant: async (here) => {
      await archiveSale(here);
      await here.sql.query('DELETE FROM payment WHERE order_id = ?', [here.orders.paid.bytes]);
    },
    fails: ['I6'],
    says: /1 × archived paid order without a payment/,
    order: 'paid',
    always: true,
  },
  {
    name: 'an archived paid order that gave its place back',
    plant: async (here) => {
      await archiveSale(here);
      await here.sql.query('UPDATE order_archive SET credit = 1');
    },
    fails: ['I6'],
    says: /1 × archived paid order that gave back stock/,
    order: 'paid',
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
    name: 'an archived activity that Redis has not forgotten',
    plant: async (here) => {
      await archiveSale(here);
      await here.redis.set(`${activity.keys}:stock`, 9);
    },
    fails: ['I3'],
    says: /activity 42 is archived, and 1 keys of it are in Redis/,
  },
  {
    name: 'an archived activity of which it is not noted that Redis has forgotten it',
    plant: async (here) => {
      await archiveSale(here);
      await here.sql.query("UPDATE activity SET stock_run_id = 'a run id'");
    },
    fails: ['I3'],
    says: /activity 42 is archived, and it is not noted/,
  },
  {
    name: 'more held than the capacity',
    plant: async ({ sql, orders }) => {
      await sql.query('UPDATE orders SET quantity = 10 WHERE id = ?', [orders.pending.bytes]);
      await sql.query('UPDATE activity SET available = 0');
    },
    fails: ['I1', 'I3'],
    says: /1 × activity with more units sold and held than its capacity/,
    always: true,
  },
  {
    name: 'a unit of MySQL stock that went missing',
    plant: ({ sql }) => sql.query('UPDATE activity SET available = 6'),
    fails: ['I1', 'I3'],
    says: /1 × activity whose available units/,
    always: true,
  },
  {
    name: 'a unit of Redis stock out of nothing',
    plant: ({ redis }) => redis.incr(`${activity.keys}:stock`),
    fails: ['I2', 'I3'],
    says: /activity 42 in Redis: free 8 \+ held 2 \+ sold 1 is not 10/,
    always: true,
  },
  {
    name: 'Redis stock below zero',
    plant: ({ redis }) => redis.set(`${activity.keys}:stock`, -3),
    fails: ['I2', 'I3'],
    says: /the counter is -3/,
    always: true,
  },
  {
    name: 'a hold that cannot be read',
    plant: ({ redis }) => redis.hset(holds, 'x', 'nonsense'),
    fails: ['I2'],
    says: /1 holds cannot be read/,
    always: true,
  },
  {
    name: 'Redis that adds up and still differs from MySQL',
    plant: async ({ redis }) => {
      await redis.decrby(`${activity.keys}:stock`, 2);
      await redis.hset(holds, '01900000-0000-7000-8000-000000000000', 'h:2:1700000000000:orphan');
      await redis.sadd(`${activity.keys}:users`, 'orphan');
    },
    fails: ['I3'],
    says: /1 × active hold in Redis of an order that is unknown in MySQL/,
  },
  {
    name: 'a paid order still held in Redis',
    plant: ({ redis, orders }) => redis.hset(holds, orders.paid.id, `h:1:1700000000000:${orders.paid.user}`),
    fails: ['I3'],
    says: /1 × PAID in MySQL, in Redis with another state, quantity or user/,
    order: 'paid',
  },
  {
    name: 'a hold of the right number for another user',
    plant: ({ redis, orders }) => redis.hset(holds, orders.pending.id, 'h:2:1700000000000:somebody'),
    fails: ['I3'],
    says: /1 × PENDING in MySQL, in Redis with another state, quantity or user/,
    order: 'pending',
  },
  {
    name: 'one user exchanged for another',
    plant: async ({ redis, orders }) => {
      await redis.srem(`${activity.keys}:users`, orders.pending.user);
      await redis.sadd(`${activity.keys}:users`, 'somebody');
    },
    fails: ['I3'],
    says: /1 × active order whose user is not among the users in Redis/,
    order: 'pending',
  },
  {
    name: 'a buyer of an order that ended whom Redis has forgotten',
    plant: ({ redis, orders }) => redis.setbit(`${activity.keys}:seen`, seenBitOf(orders.closed), 0),
    fails: ['I10'],
    says: /1 × order whose buyer the map of buyers in Redis does not know/,
    order: 'closed',
    always: true,
  },
  {
    name: 'a pending order without its hold',
    plant: async ({ redis, orders }) => {
      await redis.hdel(holds, orders.pending.id);
      await redis.incrby(`${activity.keys}:stock`, 2);
    },
    fails: ['I3'],
    says: /1 × PENDING in MySQL, without a hold in Redis/,
    order: 'pending',
  },
  {
    name: 'an empty Redis',
    plant: ({ redis }) => redis.flushdb(),
    fails: ['I3'],
    says: /activity 42: not loaded into Redis/,
  },
  {
    name: 'another generation in Redis',
    plant: ({ redis }) => redis.set(`${activity.keys}:gen`, 2),
    fails: ['I3'],
    says: /generation 2 in Redis, 3 in MySQL/,
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
    name: 'a paid order whose stock was freed',
    plant: ({ sql, orders }) =>
      sql.query('UPDATE order_transition SET credit = 1 WHERE order_id = ? AND version = 2', [
        orders.paid.bytes,
      ]),
    fails: ['I6'],
    says: /1 × paid order that gave back stock which it did not take again/,
    order: 'paid',
    always: true,
  },
  {
    name: 'money kept for a closed order',
    plant: ({ sql }) => sql.query("UPDATE payment SET state = 'CAPTURED'"),
    fails: ['I6'],
    says: /1 × captured payment of an order that is not paid/,
    order: 'late',
    always: true,
  },
  {
    name: 'money kept twice for one order',
    plant: ({ sql, orders }) => payment(sql, orders.paid, 'CAPTURED'),
    fails: ['I6'],
    says: /1 × order with more than one captured payment/,
    order: 'paid',
    always: true,
  },
  {
    name: 'an order paid with another amount',
    plant: ({ sql }) => sql.query('UPDATE payment SET amount_minor = 499'),
    fails: ['I6'],
    says: /1 × captured payment of another amount or currency/,
    order: 'paid',
    always: true,
  },
  {
    name: 'a close a millisecond early',
    plant: ({ sql, orders }) =>
      sql.query(
        `UPDATE order_transition t JOIN orders o ON o.id = t.order_id
         SET t.at = o.expires_at - INTERVAL 1000 MICROSECOND WHERE o.id = ? AND t.version = 2`,
        [orders.closed.bytes],
      ),
    fails: ['I7'],
    says: /1 × order closed before its deadline/,
    order: 'closed',
    always: true,
  },
  {
    name: 'an unpaid order that nobody closes',
    plant: ({ sql, orders }) =>
      sql.query('UPDATE orders SET expires_at = NOW(3) - INTERVAL 31 SECOND WHERE id = ?', [
        orders.pending.bytes,
      ]),
    fails: ['I8'],
    says: /1 × order still pending more than 30000 ms past its deadline/,
    order: 'pending',
  },
  {
    name: 'two reminders for one order',
    plant: async ({ sql, orders }) => {
      await sql.query('ALTER TABLE notification DROP INDEX notification_once');
      await notice(sql, orders.paid, 'REMINDER', 'SENT');
    },
    fails: ['I9'],
    says: /1 × order with more than one notice of the same stage/,
    order: 'paid',
    always: true,
  },
  {
    name: 'a reminder claimed after the order was paid',
    plant: ({ sql, orders }) =>
      sql.query('UPDATE orders SET reminded_at = paid_at + INTERVAL 1000 MICROSECOND WHERE id = ?', [
        orders.paid.bytes,
      ]),
    fails: ['I9'],
    says: /1 × order claimed for its reminder before it was due, or when it was not pending/,
    order: 'paid',
    always: true,
  },
  {
    name: 'a reminder before its time',
    plant: ({ sql, orders }) =>
      sql.query('UPDATE orders SET reminded_at = remind_at - INTERVAL 1000 MICROSECOND WHERE id = ?', [
        orders.pending.bytes,
      ]),
    fails: ['I9'],
    says: /1 × order claimed for its reminder before it was due/,
    order: 'pending',
    always: true,
  },
  {
    name: 'a reminder sent for a cancelled order that was never claimed',
    plant: ({ sql, orders }) => notice(sql, orders.cancelled, 'REMINDER', 'SENT'),
    fails: ['I9'],
    says: /1 × reminder sent for an order that was never claimed/,
    order: 'cancelled',
    always: true,
  },
  {
    name: 'a notice of closing to a buyer who paid',
    plant: ({ sql, orders }) => notice(sql, orders.paid, 'CLOSED', 'SENT'),
    fails: ['I9'],
    says: /1 × notice of closing sent for an order that did not close/,
    order: 'paid',
    always: true,
  },
  {
    name: 'two orders of one buyer and key',
    plant: async ({ sql, orders }) => {
      await sql.query('ALTER TABLE orders DROP INDEX orders_idempotency_key');
      await sql.query("UPDATE orders SET user_id = 'cancelled' WHERE id = ?", [orders.late.bytes]);
    },
    fails: ['I10'],
    says: /1 × order with the buyer and idempotency key of another/,
    always: true,
  },
  {
    name: 'a message never sent',
    plant: ({ sql, orders }) =>
      sql.query(
        `INSERT INTO message_outbox (id, phase, body, order_count, due_at, created_at)
         VALUES (?, 1, ?, 1, NOW(3), NOW(3))`,
        [orders.pending.bytes, JSON.stringify([{ orderId: orders.pending.id }])],
      ),
    fails: ['I11'],
    says: /1 × outbox row never sent/,
    order: 'pending',
  },
  {
    name: 'an effect never applied',
    plant: ({ sql, orders }) =>
      sql.query(
        `INSERT INTO effect (id, batch_id, kind, activity_id, order_ids, created_at)
         VALUES (?, ?, 'release', 42, ?, NOW(3))`,
        [orders.closed.bytes, orders.closed.bytes, orders.closed.bytes],
      ),
    fails: ['I11'],
    says: /1 × effect not applied \(release\)/,
    order: 'closed',
  },
  {
    name: 'a notice that waits for ever',
    plant: ({ sql, orders }) =>
      sql.query("UPDATE notification SET state = 'WAITING' WHERE order_id = ? AND stage = 'CLOSED'", [
        orders.late.bytes,
      ]),
    fails: ['I11'],
    says: /1 × notice that has waited for more than 60000 ms/,
    order: 'late',
  },
  {
    name: 'a closed order whose buyer is never told',
    plant: ({ sql, orders }) => loseNotice(sql, orders.closed, 'CLOSED'),
    fails: ['I11'],
    says: /1 × order that closed and whose buyer is never told/,
    order: 'closed',
  },
  {
    name: 'a reminder that was claimed and lost',
    plant: ({ sql, orders }) => loseNotice(sql, orders.paid, 'REMINDER'),
    fails: ['I11'],
    says: /1 × order claimed for its reminder in time and whose buyer is never reminded/,
    order: 'paid',
  },
  {
    name: 'a lost reminder of an order whose deadline was moved before it',
    plant: async ({ sql, orders }) => {
      await loseNotice(sql, orders.closed, 'REMINDER');
      // Claimed 5 minutes before its deadline, and 1 minute after the one that it had first.
      await sql.query(
        `UPDATE orders SET first_remind_at = remind_at - INTERVAL 6 MINUTE,
           first_expires_at = expires_at - INTERVAL 6 MINUTE WHERE id = ?`,
        [orders.closed.bytes],
      );
    },
    fails: ['I11'],
    says: /1 × order claimed for its reminder in time and whose buyer is never reminded/,
    order: 'closed',
  },
  {
    name: 'a reminder that nobody claims',
    plant: async ({ sql, orders }) => {
      await loseNotice(sql, orders.pending, 'REMINDER');
      await sql.query('UPDATE orders SET reminded_at = NULL WHERE id = ?', [orders.pending.bytes]);
    },
    fails: ['I11'],
    says: /1 × order still pending and unreminded more than 30000 ms past its reminder/,
    order: 'pending',
  },
  {
    name: 'an order that cannot be reminded and is not closed either',
    plant: async ({ sql, orders }) => {
      await sql.query('UPDATE orders SET expires_at = NOW(3) - INTERVAL 1 HOUR WHERE id = ?', [
        orders.pending.bytes,
      ]);
      await park(sql, orders.pending, 1);
    },
    fails: ['I8'],
    says: /1 × order still pending more than 30000 ms past its deadline/,
    order: 'pending',
  },
  {
    name: 'an activity that was loaded into another Redis server',
    plant: ({ sql }) => sql.query("UPDATE activity SET stock_run_id = 'another'"),
    fails: ['I3'],
    says: /activity 42: run id \w{40} in Redis, another in MySQL/,
  },
  {
    name: 'an activity whose first load was never noted',
    plant: ({ sql }) => sql.query('UPDATE activity SET stock_run_id = NULL'),
    fails: ['I3'],
    says: /activity 42: run id \w{40} in Redis, null in MySQL/,
  },
  {
    name: 'an order closed while it was being paid',
    plant: async ({ sql, orders }) => {
      await attempt(sql, orders.closed, 'CANCELLED');
      await attemptLasted(sql, orders.closed, 1);
    },
    fails: ['I7'],
    says: /1 × order closed while it was being paid, before its grace was over/,
    order: 'closed',
    always: true,
  },
  {
    name: 'an event for the shop that is held back for nothing',
    plant: async ({ sql, orders }) => {
      await shopEvent(sql, orders.closed, 1, 'SENT', 'NOW(3)');
      await shopEvent(sql, orders.closed, 2, 'HELD');
    },
    fails: ['I11'],
    says: /1 × event for the shop that is held back for nothing/,
    order: 'closed',
  },
  {
    name: 'a place taken again that nobody took off the stock',
    plant: async (world) => {
      await takeAgain(world);
      await world.sql.query('UPDATE order_transition SET debit = 0');
    },
    fails: ['I4', 'I6'],
    says: /1 × paid order that gave back stock which it did not take again/,
    order: 'late',
    always: true,
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
  {
    name: 'a deadline that moved to an earlier time',
    plant: ({ sql, orders }) =>
      sql.query('UPDATE orders SET first_expires_at = expires_at + INTERVAL 1 SECOND WHERE id = ?', [
        orders.pending.bytes,
      ]),
    fails: ['I7'],
    says: /1 × order whose deadline was moved to before the one that its buyer was told/,
    order: 'pending',
    always: true,
  },
  {
    name: 'a paid order without money',
    plant: ({ sql, orders }) => sql.query('DELETE FROM payment WHERE order_id = ?', [orders.paid.bytes]),
    fails: ['I6'],
    says: /1 × paid order without a payment that was kept/,
    order: 'paid',
    always: true,
  },
  {
    name: 'money kept and paid back',
    plant: ({ sql, orders }) =>
      sql.query("UPDATE payment SET refund_ref = 're_1', refunded_at = NOW(3) WHERE order_id = ?", [
        orders.paid.bytes,
      ]),
    fails: ['I6'],
    says: /1 × payment that is kept and paid back as well/,
    order: 'paid',
    always: true,
  },
  {
    name: 'money of one payment kept for one order and paid back for another',
    plant: ({ sql, orders }) =>
      sql.query(
        `UPDATE payment p JOIN payment kept ON kept.order_id = ?
         SET p.payment_id = kept.payment_id, p.conflict = 'other order' WHERE p.order_id = ?`,
        [orders.paid.bytes, orders.late.bytes],
      ),
    fails: ['I6'],
    says: /1 × payment whose money one row keeps or gives back, and another as well/,
    order: 'late',
    always: true,
  },
  {
    name: 'a refund without an id',
    plant: ({ sql, orders }) =>
      sql.query("UPDATE payment SET state = 'REFUNDED', refunded_at = NOW(3) WHERE order_id = ?", [
        orders.late.bytes,
      ]),
    fails: ['I6'],
    says: /1 × refund that was made without an id of its own/,
    order: 'late',
    always: true,
  },
  {
    name: 'one refund id for two payments',
    plant: async ({ sql, orders }) => {
      await payment(sql, orders.late, 'REFUND_PENDING');
      await sql.query("UPDATE payment SET state = 'REFUNDED', refund_id = ? WHERE order_id = ?", [
        Buffer.alloc(16, 7),
        orders.late.bytes,
      ]);
    },
    fails: ['I6'],
    says: /2 × refund that was made without an id of its own/,
    order: 'late',
    always: true,
  },
  {
    name: 'a payment that waits for its order for ever',
    plant: ({ sql, orders }) => payment(sql, orders.pending, 'WAITING'),
    fails: ['I11'],
    says: /1 × payment that still waits for its order/,
    order: 'pending',
  },
  {
    name: 'an attempt left open for a closed order',
    plant: ({ sql, orders }) => attempt(sql, orders.closed, 'OPEN'),
    fails: ['I11'],
    says: /1 × payment attempt that is open though its order is final/,
    order: 'closed',
  },
  {
    name: 'an attempt that its order does not wait for',
    plant: ({ sql, orders }) => attempt(sql, orders.pending, 'CREATING'),
    fails: ['I11'],
    says: /1 × pending order that waits for an attempt although none is open, or does not wait/,
    order: 'pending',
  },
  {
    name: 'an order that waits for an attempt that has ended',
    plant: async ({ sql, orders }) => {
      await attempt(sql, orders.pending, 'CANCELLED');
      await sql.query('UPDATE orders SET settle_until = expires_at WHERE id = ?', [orders.pending.bytes]);
    },
    fails: ['I11'],
    says: /1 × pending order that waits for an attempt although none is open/,
    order: 'pending',
  },
  {
    name: 'an event sent before an earlier one of its order',
    plant: async ({ sql, orders }) => {
      await shopEvent(sql, orders.closed, 1, 'SENT', 'NOW(3)');
      await shopEvent(sql, orders.closed, 2, 'SENT', 'NOW(3) - INTERVAL 1 SECOND');
    },
    fails: ['I11'],
    says: /1 × event for the shop that was sent before an earlier one of its order/,
    order: 'closed',
  },
  {
    name: 'an event for the shop that waits for ever',
    plant: ({ sql, orders }) => shopEvent(sql, orders.closed, 1, 'WAITING'),
    fails: ['I11'],
    says: /1 × event for the shop that has waited for more than 60000 ms/,
    order: 'closed',
  },
  {
    name: 'money kept for an order that is not there',
    plant: ({ sql }) => payment(sql, unknownOrder(), 'CAPTURED'),
    fails: ['I6'],
    says: /1 × captured payment of an order that is not paid/,
    always: true,
    ofNobody: true,
  },
  {
    name: 'money kept and paid back for an order that is not there',
    plant: async ({ sql }) => {
      const nobody = unknownOrder();
      await payment(sql, nobody, 'CAPTURED');
      await sql.query('UPDATE payment SET refunded_at = NOW(3) WHERE order_id = ?', [nobody.bytes]);
    },
    fails: ['I6'],
    says: /1 × payment that is kept and paid back as well/,
    always: true,
    ofNobody: true,
  },
  {
    name: 'a refund without an id for an order that is not there',
    plant: ({ sql }) => payment(sql, unknownOrder(), 'REFUNDED'),
    fails: ['I6'],
    says: /1 × refund that was made without an id of its own/,
    always: true,
    ofNobody: true,
  },
  {
    name: 'a payment that waits for ever for an order that is not there',
    plant: ({ sql }) => payment(sql, unknownOrder(), 'WAITING'),
    fails: ['I11'],
    says: /1 × payment that still waits for its order/,
    ofNobody: true,
  },
  {
    name: 'an attempt left open for an order that is not there',
    plant: ({ sql }) => attempt(sql, unknownOrder(), 'OPEN'),
    fails: ['I11'],
    says: /1 × payment attempt that is open though its order is final/,
    ofNobody: true,
  },
  {
    name: 'a notice of closing sent for an order that is not there',
    plant: ({ sql }) => notice(sql, unknownOrder(), 'CLOSED', 'SENT'),
    fails: ['I9'],
    says: /1 × notice of closing sent for an order that did not close/,
    always: true,
    ofNobody: true,
  },
  {
    name: 'a reminder sent for an order that is not there',
    plant: ({ sql }) => notice(sql, unknownOrder(), 'REMINDER', 'SENT'),
    fails: ['I9'],
    says: /1 × reminder sent for an order that was never claimed/,
    always: true,
    ofNobody: true,
  },
  {
    name: 'a notice that waits for ever, of an order that is not there',
    plant: ({ sql }) => notice(sql, unknownOrder(), 'CLOSED', 'WAITING'),
    fails: ['I11'],
    says: /1 × notice that has waited for more than 60000 ms/,
    ofNobody: true,
  },
  {
    name: 'an event for the shop that waits for ever, of an order that is not there',
    plant: ({ sql }) => shopEvent(sql, unknownOrder(), 1, 'WAITING'),
    fails: ['I11'],
    says: /1 × event for the shop that has waited for more than 60000 ms/,
    ofNobody: true,
  },
  {
    name: 'a finding that nobody healed',
    plant: ({ sql }) =>
      sql.query(
        `INSERT INTO audit_finding (id, at, activity_id, kind, action, detail)
         VALUES (?, NOW(3), 42, 'stock', 'none', '{}')`,
        [Buffer.alloc(16, 1)],
      ),
    fails: ['I3'],
    says: /1 × finding of the auditor that is not healed/,
  },
  {
    name: 'a change of capacity that Redis did not follow',
    plant: ({ sql }) =>
      sql.query('UPDATE activity SET capacity = 12, available = 9, capacity_version = 2 WHERE id = 42'),
    fails: ['I3'],
    says: /activity 42: capacity 1:10 in Redis, 2:12 in MySQL/,
  },
  {
    name: 'a change of capacity that Redis followed in name alone',
    plant: async ({ sql, redis }) => {
      await sql.query('UPDATE activity SET capacity = 12, available = 9, capacity_version = 2 WHERE id = 42');
      await redis.set(`${activity.keys}:capacity`, '2:12');
    },
    fails: ['I2', 'I3'],
    says: /free 7 \+ held 2 \+ sold 1 is not 12/,
    always: true,
  },
];

function loseNotice(sql: World['sql'], order: SeedOrder, stage: string): Promise<unknown> {
  return sql.query('DELETE FROM notification WHERE order_id = ? AND stage = ?', [order.bytes, stage]);
}

/** From a minute before the deadline to so many seconds after it. */
function attemptLasted(sql: World['sql'], order: SeedOrder, seconds: number): Promise<unknown> {
  return sql.query(
    `UPDATE payment_attempt p JOIN orders o ON o.id = p.order_id
     SET p.created_at = o.expires_at - INTERVAL 1 MINUTE, p.ended_at = o.expires_at + INTERVAL ? SECOND
     WHERE o.id = ?`,
    [seconds, order.bytes],
  );
}

function park(sql: World['sql'], order: SeedOrder, phase: number, state = 'PARKED'): Promise<unknown> {
  return sql.query(
    `INSERT INTO parked (kind, ref, body_hash, order_id, phase, reason, created_at, state)
     VALUES ('order', ?, ?, ?, ?, 'poison', NOW(3), ?)`,
    [order.id, Buffer.alloc(32), order.bytes, phase, state],
  );
}

describe('the oracle', () => {
  it('finds nothing wrong in a system at rest, and counts and times what is there', async () => {
    const verdict = await judge();
    expect(describeVerdict(verdict)).not.toContain('FAIL');
    expect(verdict.ok).toBe(true);
    expect(verdict.checks.map(({ id }) => id)).toEqual(Array.from({ length: 11 }, (_, i) => `I${i + 1}`));
    expect(verdict.counts).toEqual({
      activities: 1,
      orders: { PENDING: 1, PAID: 1, TIMEOUT_CLOSED: 2, CANCELLED: 1, ABORTED: 1 },
      units: { capacity: 10, available: 7, pending: 2, paid: 1, credited: 5 },
      payments: { CAPTURED: 1, REFUND_PENDING: 1 },
      notifications: { 'REMINDER SENT': 4, 'CLOSED SENT': 2 },
      parked: { orders: 0, messages: 0, deadLetters: 0, notifications: 0 },
    });
    expect(verdict.lateness).toEqual({ count: 2, p50: 20, p99: 400, max: 400, early: 0 });
  });

  it.each(plants)('names $name', async ({ plant, fails, says, order }) => {
    await plant(world);
    const verdict = await judge();
    expect(verdict.failed.map(({ id }) => id)).toEqual(fails);
    expect(verdict.ok).toBe(false);
    expect(describeVerdict(verdict)).toMatch(says);
    const named = new Set(verdict.failed.flatMap(({ orderIds }) => orderIds));
    if (order !== undefined) expect(named).toContain(world.orders[order].id);
  });

  it.each(plants.filter(({ always }) => always))(
    'names $name while the system runs, too',
    async ({ plant, says }) => {
      await plant(world);
      expect(describeVerdict(await judge({ atRest: false }))).toMatch(says);
    },
  );

  it('finds nothing wrong where orders went to the archive, and counts what they gave back', async () => {
    const { sql, orders } = world;
    for (const order of [orders.closed, orders.cancelled, orders.aborted]) {
      await sentMessage(sql, order);
      await archive(sql, order);
    }
    await sql.query("UPDATE message_outbox SET body = 'no JSON' WHERE body LIKE ?", [
      `%${orders.aborted.id}%`,
    ]);
    const verdict = await judge();
    expect(verdict.failed, describeVerdict(verdict)).toEqual([]);
    expect(verdict.counts.units.credited).toBe(5);
  });

  it('finds nothing wrong where a whole sale went to the archive, and counts its places as sold', async () => {
    const before = await judge();
    await archiveSale(world);
    const verdict = await judge();
    expect(verdict.failed, describeVerdict(verdict)).toEqual([]);
    expect(verdict.counts.orders.PAID).toBe(before.counts.orders.PAID);
    expect(verdict.counts.units).toEqual({ ...before.counts.units, available: 9, pending: 0 });
  });

  it('leaves what is only true at rest unchecked while the system runs, and says so', async () => {
    for (const { plant } of plants.filter(({ always }) => !always)) {
      await world.reset();
      await plant(world);
      const { ok, checks } = await judge({ atRest: false });
      expect(ok).toBe(true);
      expect(checks.filter(({ detail }) => detail.startsWith('not checked')).map(({ id }) => id)).toEqual([
        'I3',
        'I8',
        'I11',
      ]);
    }
  });

  it('asks a server of Redis that came back with older data for no buyer: it refuses everybody until it is loaded', async () => {
    await world.redis.setbit(`${activity.keys}:seen`, seenBitOf(world.orders.closed), 0);
    await world.sql.query("UPDATE activity SET stock_run_id = 'of another server'");
    expect(await judge({ atRest: false })).toMatchObject({ ok: true });
  });

  it('reports a parked order as parked, not as overdue', async () => {
    await world.sql.query('UPDATE orders SET expires_at = NOW(3) - INTERVAL 1 HOUR WHERE status = ?', [
      'PENDING',
    ]);
    await park(world.sql, world.orders.pending, 2);
    const { ok, counts } = await judge();
    expect(ok).toBe(true);
    expect(counts.parked).toEqual({ orders: 1, messages: 0, deadLetters: 0, notifications: 0 });
  });

  it('lists what is parked for a person, until it is redriven or dropped', async () => {
    const parkMessage = (kind: string, ref: string, state: string) =>
      world.sql.query(
        `INSERT INTO parked (kind, ref, body_hash, reason, created_at, state) VALUES (?, ?, ?, 'why', NOW(3), ?)`,
        [kind, ref, Buffer.alloc(32), state],
      );
    await parkMessage('message', 'm1', 'REDRIVEN');
    await parkMessage('message', 'm2', 'PARKED');
    await parkMessage('dead_letter', 'd1', 'PARKED');
    const verdict = await judge();
    expect(verdict.ok).toBe(true);
    expect(verdict.counts.parked).toEqual({ orders: 0, messages: 1, deadLetters: 1, notifications: 0 });
    expect(verdict.parked.map(({ kind, ref }) => `${kind} ${ref}`)).toEqual(['dead_letter d1', 'message m2']);
    expect(describeVerdict(verdict)).toContain('parked dead_letter d1: why');
  });

  it('an order parked and redriven is overdue like any other', async () => {
    await world.sql.query('UPDATE orders SET expires_at = NOW(3) - INTERVAL 1 HOUR WHERE status = ?', [
      'PENDING',
    ]);
    await park(world.sql, world.orders.pending, 2, 'REDRIVEN');
    expect((await judge()).failed.map(({ id }) => id)).toEqual(['I8']);
  });

  it.each(plants.filter(({ ofNobody }) => ofNobody))(
    'names $name whichever activities it looks at',
    async ({ plant, says }) => {
      await plant(world);
      expect(describeVerdict(await judge({ activityIds: [43] }))).toMatch(says);
    },
  );

  it('asks for no reminder where the claim came too late, or the order is parked and waits for a person', async () => {
    const { sql, orders } = world;
    await loseNotice(sql, orders.paid, 'REMINDER');
    // Claimed after its deadline; then an operator moved that.
    await sql.query(
      `UPDATE orders SET expires_at = reminded_at, first_expires_at = reminded_at, first_remind_at = remind_at
       WHERE id = ?`,
      [orders.paid.bytes],
    );
    expect(describeVerdict(await judge())).not.toContain('FAIL');
    await sql.query('UPDATE orders SET expires_at = NOW(3) + INTERVAL 1 HOUR WHERE id = ?', [
      orders.paid.bytes,
    ]);
    await loseNotice(sql, orders.pending, 'REMINDER');
    await sql.query('UPDATE orders SET reminded_at = NULL WHERE id = ?', [orders.pending.bytes]);
    await park(sql, orders.pending, 1);
    expect(describeVerdict(await judge())).not.toContain('FAIL');
  });

  it('lets an order close whose attempt had ended, or whose grace was over', async () => {
    const { sql, orders } = world;
    await attempt(sql, orders.closed, 'CANCELLED');
    await attemptLasted(sql, orders.closed, 0);
    expect(describeVerdict(await judge())).not.toContain('FAIL');
    await attemptLasted(sql, orders.closed, 60);
    await sql.query('UPDATE activity SET payment_grace_ms = 20');
    expect(describeVerdict(await judge())).not.toContain('FAIL');
    await sql.query('UPDATE activity SET payment_grace_ms = 21');
    expect((await judge()).failed.map(({ id }) => id)).toEqual(['I7']);
  });

  it('where the shop is told of each step, an order of which it is not is a fault', async () => {
    const { sql, orders } = world;
    const tell = (order: SeedOrder, ...types: string[]) =>
      Promise.all(
        types.map((type, index) =>
          shopEvent(sql, order, index, 'SENT', `NOW(3) + INTERVAL ${index} SECOND`, type),
        ),
      );
    await sql.query("UPDATE payment SET state = 'REFUNDED', refund_id = ? WHERE order_id = ?", [
      Buffer.alloc(16, 7),
      orders.late.bytes,
    ]);
    const options = { shopWantsEvents: true };
    await tell(orders.pending, 'created', 'reminded');
    await tell(orders.paid, 'created', 'reminded', 'paid');
    await tell(orders.closed, 'created', 'reminded', 'closed');
    await tell(orders.cancelled, 'created', 'cancelled');
    await tell(orders.late, 'created', 'reminded', 'closed', 'refunded');
    expect(describeVerdict(await judge(options))).not.toContain('FAIL');
    for (const type of ['created', 'reminded', 'paid', 'closed', 'cancelled', 'refunded']) {
      await sql.query("UPDATE shop_event SET type = CONCAT('no ', type) WHERE type = ?", [type]);
      const { failed } = await judge(options);
      expect(failed.map(({ detail }) => detail)).toEqual([
        expect.stringMatching(/^\d × order of which the shop is never told something$/),
      ]);
      await sql.query('UPDATE shop_event SET type = ? WHERE type = ?', [type, `no ${type}`]);
    }
    expect((await judge()).ok).toBe(true);
  });

  it('where the shop is told of each step, it is told of money that went back after its order was archived', async () => {
    const { sql, orders } = world;
    await archive(sql, orders.cancelled);
    await payment(sql, orders.cancelled, 'REFUNDED');
    const refundedIn = (seconds: number) =>
      sql.query(
        'UPDATE payment SET refund_id = ?, refunded_at = NOW(3) + INTERVAL ? SECOND WHERE order_id = ?',
        [Buffer.alloc(16, 7), ...[seconds, orders.cancelled.bytes]],
      );
    const says = '1 × archived order of which the shop is never told that money went back since';
    const told = async () => describeVerdict(await judge({ shopWantsEvents: true }));
    await refundedIn(1);
    expect(await told()).toContain(says);
    await refundedIn(-3_600);
    expect(await told()).not.toContain(says);
    await refundedIn(1);
    await shopEvent(sql, orders.cancelled, 2_500, 'SENT', 'NOW(3)', 'refunded');
    expect(await told()).not.toContain(says);
  });

  it('finds nothing wrong where a late payment took a free place again, and its buyer was told of the close', async () => {
    await takeAgain(world);
    expect(describeVerdict(await judge())).not.toContain('FAIL');
  });

  it('a refund that is due is a fault at rest only where a provider takes it', async () => {
    expect((await judge()).ok).toBe(true);
    const { failed } = await judge({ refundsArePaid: true });
    expect(failed.map(({ id }) => id)).toEqual(['I11']);
    expect(failed[0]?.detail).toMatch(/1 × refund that is due and was not made/);
    expect(failed[0]?.orderIds).toEqual([world.orders.late.id]);
    expect((await judge({ refundsArePaid: true, atRest: false })).ok).toBe(true);

    // One that the provider could not carry out is as due, and no drift of the stock.
    const { sql, orders } = world;
    await sql.query("UPDATE payment SET state = 'REFUND_FAILED', refund_id = ? WHERE order_id = ?", [
      Buffer.alloc(16, 7),
      orders.late.bytes,
    ]);
    await sql.query(
      `INSERT INTO audit_finding (id, at, kind, action, detail) VALUES (?, NOW(3), 'refund_failed', 'none', '{}')`,
      [Buffer.alloc(16, 1)],
    );
    expect((await judge()).ok).toBe(true);
    expect((await judge({ refundsArePaid: true })).failed.map(({ id }) => id)).toEqual(['I11']);
  });

  it('waits as long as the settling of an open attempt may take, and finds nothing in a finished refund', async () => {
    const { sql, orders } = world;
    await attempt(sql, orders.pending, 'OPEN');
    await sql.query('UPDATE orders SET settle_until = expires_at WHERE id = ?', [orders.pending.bytes]);
    await sql.query(
      "UPDATE payment SET state = 'REFUNDED', refund_id = ?, refunded_at = NOW(3) WHERE order_id = ?",
      [Buffer.alloc(16, 7), orders.late.bytes],
    );
    expect(describeVerdict(await judge({ refundsArePaid: true }))).not.toContain('FAIL');
  });

  it('takes an activity that Redis loaded before it followed changes of capacity', async () => {
    await world.redis.del(`${activity.keys}:capacity`);
    expect((await judge()).ok).toBe(true);
  });

  it('sees shop events in order where a parked one was passed over', async () => {
    const { sql, orders } = world;
    await shopEvent(sql, orders.closed, 1, 'SENT', 'NOW(3) - INTERVAL 1 SECOND');
    await shopEvent(sql, orders.closed, 2, 'PARKED');
    await shopEvent(sql, orders.closed, 3, 'SENT', 'NOW(3)');
    expect((await judge()).ok).toBe(true);
  });

  it('looks at the activities asked for alone', async () => {
    await world.sql.query('UPDATE activity SET available = 6');
    expect((await judge({ activityIds: [43] })).ok).toBe(true);
    expect((await judge({ activityIds: [42, 43] })).ok).toBe(false);
    expect((await judge({ activityIds: [] })).ok).toBe(true);
  });

  it('counts payments and notices of the activities asked for alone', async () => {
    const { counts } = await judge({ activityIds: [43] });
    expect(counts.payments).toEqual({});
    expect(counts.notifications).toEqual({});
    expect((await judge({ activityIds: [42] })).counts).toEqual((await judge()).counts);
  });

  it('judges one instant of a system that moves under it', async () => {
    const { sql, redis, orders } = world;
    let moving = true;
    const move = async () => {
      while (moving) {
        await sql.query(
          `UPDATE activity a JOIN orders o ON o.activity_id = a.id AND o.id = ?
           SET a.available = a.available - 1, o.quantity = o.quantity + 1 WHERE a.available > 0`,
          [orders.pending.bytes],
        );
        await redis.eval(
          "redis.call('DECR', KEYS[1]) redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])",
          2,
          `${activity.keys}:stock`,
          holds,
          orders.pending.id,
          `h:3:1:x`,
        );
        await sql.query(
          `UPDATE activity a JOIN orders o ON o.activity_id = a.id AND o.id = ?
           SET a.available = a.available + 1, o.quantity = o.quantity - 1 WHERE o.quantity > 2`,
          [orders.pending.bytes],
        );
        await redis.eval(
          "redis.call('INCR', KEYS[1]) redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])",
          2,
          `${activity.keys}:stock`,
          holds,
          orders.pending.id,
          `h:2:1:x`,
        );
      }
    };
    const moved = move();
    for (let i = 0; i < 30; i += 1) {
      const verdict = await judge({ atRest: false });
      expect(describeVerdict(verdict)).not.toContain('FAIL');
    }
    moving = false;
    await moved;
  });
});

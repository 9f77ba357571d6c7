import { activity, notice, seenBitOf, unknownOrder } from '../world.ts';
import type { Plant } from './plant.ts';

/** What buyers are told, and who has bought before: I9 and I10. */
export const notices: readonly Plant[] = [
  {
    name: 'a buyer of an order that ended whom Redis has forgotten',
    plant: ({ redis, orders }) => redis.setbit(`${activity.keys}:seen`, seenBitOf(orders.closed), 0),
    fails: ['I10'],
    says: /1 × order whose buyer the map of buyers in Redis does not know/,
    order: 'closed',
    always: true,
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
];

import { loseNotice } from '../spoil.ts';
import { attempt, notice, payment, shopEvent, unknownOrder } from '../world.ts';
import type { Plant } from './plant.ts';

/** What has still to be done, of a system at rest: I11. */
export const unfinished: readonly Plant[] = [
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
];

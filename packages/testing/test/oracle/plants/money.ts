import { archiveSale, payment, takeAgain, unknownOrder } from '../world.ts';
import type { Plant } from './plant.ts';

/** Money: I6. */
export const money: readonly Plant[] = [
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
];

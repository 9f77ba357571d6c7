import { stockByOrder } from './order-rules.ts';
import { ofOrderOrNone, type Rule } from './rule.ts';

/** A row in one of these states accounts for its payment's money; a payment has one such row at most. */
const movesMoney = "'CAPTURED', 'REFUND_PENDING', 'REFUNDED', 'REFUND_FAILED'";

/** I6: money against the order's own record, in any snapshot. */
export const paymentRules: readonly Rule[] = [
  {
    id: 'I6',
    says: 'paid order that gave back stock which it did not take again',
    sql: (only) => stockByOrder(only('o.activity_id'), "credit <> debit AND status = 'PAID'"),
  },
  {
    id: 'I6',
    says: 'captured payment of an order that is not paid, without a refund or quarantine',
    sql: (only) => `
      SELECT p.order_id FROM payment p LEFT JOIN orders o ON o.id = p.order_id
      LEFT JOIN order_archive x ON x.order_id = p.order_id
      WHERE p.state = 'CAPTURED' AND COALESCE(o.status, x.status, 'none') <> 'PAID' AND ${ofOrderOrNone(only)}`,
  },
  {
    id: 'I6',
    says: 'captured payment of another amount or currency than its order',
    sql: (only) => `
      SELECT p.order_id FROM payment p JOIN orders o ON o.id = p.order_id
      WHERE p.state = 'CAPTURED' AND (p.amount_minor <> o.amount_minor OR p.currency <> o.currency)
        AND ${only('o.activity_id')}`,
  },
  {
    id: 'I6',
    says: 'order with more than one captured payment kept',
    sql: (only) => `
      SELECT p.order_id FROM payment p JOIN orders o ON o.id = p.order_id
      WHERE p.state = 'CAPTURED' AND ${only('o.activity_id')}
      GROUP BY p.order_id HAVING COUNT(*) > 1`,
  },
  {
    id: 'I6',
    says: 'paid order without a payment that was kept',
    sql: (only) => `
      SELECT o.id AS order_id FROM orders o LEFT JOIN payment p ON p.order_id = o.id AND p.state = 'CAPTURED'
      WHERE o.status = 'PAID' AND p.id IS NULL AND ${only('o.activity_id')}`,
  },
  {
    id: 'I6',
    says: 'payment that is kept and paid back as well',
    sql: (only) => `
      SELECT p.order_id FROM payment p LEFT JOIN orders o ON o.id = p.order_id
      WHERE p.state = 'CAPTURED' AND (p.refunded_at IS NOT NULL OR p.refund_ref IS NOT NULL)
        AND ${ofOrderOrNone(only)}`,
  },
  {
    id: 'I6',
    says: 'payment whose money one row keeps or gives back, and another as well',
    sql: (only) => `
      SELECT p.order_id FROM payment p LEFT JOIN orders o ON o.id = p.order_id
      WHERE p.state IN (${movesMoney}) AND EXISTS (
          SELECT 1 FROM payment other
          WHERE other.payment_id = p.payment_id AND other.id < p.id AND other.state IN (${movesMoney}))
        AND ${ofOrderOrNone(only)}`,
  },
  {
    id: 'I6',
    says: 'refund that was made without an id of its own, so that it may be made twice',
    sql: (only) => `
      SELECT p.order_id FROM payment p LEFT JOIN orders o ON o.id = p.order_id
      WHERE p.state = 'REFUNDED' AND (p.refund_id IS NULL OR EXISTS (
          SELECT 1 FROM payment other WHERE other.refund_id = p.refund_id AND other.id <> p.id))
        AND ${ofOrderOrNone(only)}`,
  },
];

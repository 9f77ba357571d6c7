import type { Rule } from './rule.ts';

/** I6 and I9: money and notices against the order's own record, in any snapshot. */
export const paymentAndNoticeRules: readonly Rule[] = [
  {
    id: 'I6',
    says: 'paid order that gave stock back',
    sql: (only) => `
      SELECT DISTINCT o.id AS order_id FROM orders o JOIN order_transition t ON t.order_id = o.id
      WHERE o.status = 'PAID' AND t.credit > 0 ${only('o.activity_id')}`,
  },
  {
    id: 'I6',
    says: 'captured payment of an order that is not paid, without a refund or quarantine',
    sql: (only) => `
      SELECT p.order_id FROM payment p LEFT JOIN orders o ON o.id = p.order_id
      WHERE p.state = 'CAPTURED' AND (o.id IS NULL OR o.status <> 'PAID') ${only('o.activity_id')}`,
  },
  {
    id: 'I6',
    says: 'captured payment of another amount or currency than its order',
    sql: (only) => `
      SELECT p.order_id FROM payment p JOIN orders o ON o.id = p.order_id
      WHERE p.state = 'CAPTURED' AND (p.amount_minor <> o.amount_minor OR p.currency <> o.currency)
        ${only('o.activity_id')}`,
  },
  {
    id: 'I6',
    says: 'order with more than one captured payment kept',
    sql: (only) => `
      SELECT p.order_id FROM payment p JOIN orders o ON o.id = p.order_id
      WHERE p.state = 'CAPTURED' ${only('o.activity_id')}
      GROUP BY p.order_id HAVING COUNT(*) > 1`,
  },
  {
    id: 'I9',
    says: 'order with more than one notice of the same stage',
    sql: (only) => `
      SELECT n.order_id FROM notification n JOIN orders o ON o.id = n.order_id
      WHERE TRUE ${only('o.activity_id')}
      GROUP BY n.order_id, n.stage HAVING COUNT(*) > 1`,
  },
  {
    id: 'I9',
    says: 'order claimed for its reminder before it was due, or when it was not pending any more',
    sql: (only) => `
      SELECT o.id AS order_id FROM orders o
      WHERE o.reminded_at IS NOT NULL ${only('o.activity_id')}
        AND (o.reminded_at < o.remind_at OR o.paid_at < o.reminded_at OR o.closed_at < o.reminded_at
             OR o.status = 'ABORTED')`,
  },
  {
    id: 'I9',
    says: 'reminder sent for an order that was never claimed for it',
    sql: (only) => `
      SELECT n.order_id FROM notification n LEFT JOIN orders o ON o.id = n.order_id
      WHERE n.stage = 'REMINDER' AND n.state = 'SENT' AND o.reminded_at IS NULL ${only('o.activity_id')}`,
  },
  {
    id: 'I9',
    says: 'notice of closing sent for an order that did not close',
    sql: (only) => `
      SELECT n.order_id FROM notification n LEFT JOIN orders o ON o.id = n.order_id
      WHERE n.stage = 'CLOSED' AND n.state = 'SENT' ${only('o.activity_id')}
        AND (o.id IS NULL OR o.status NOT IN ('TIMEOUT_CLOSED', 'CANCELLED'))`,
  },
];

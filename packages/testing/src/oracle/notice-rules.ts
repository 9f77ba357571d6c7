import type { Rule } from './rule.ts';

/** I9: notices against the order's own record, in any snapshot. */
export const noticeRules: readonly Rule[] = [
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
      WHERE n.stage = 'CLOSED' AND n.state = 'SENT' ${only('o.activity_id')} AND NOT EXISTS (
        SELECT 1 FROM order_transition t
        WHERE t.order_id = n.order_id AND t.to_status IN ('TIMEOUT_CLOSED', 'CANCELLED'))`,
  },
];

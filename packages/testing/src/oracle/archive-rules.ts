import type { Rule } from './rule.ts';

/** Messages that are read for the orders they name: 25 us each. The oldest, since retention begins with the oldest orders. */
const messagesMax = 200;

/** What messages say of the orders that were placed. A body that cannot be read names none. */
const namedByMessages = `
  (SELECT body FROM message_outbox ORDER BY id LIMIT ${messagesMax}) AS m JOIN JSON_TABLE(IF(JSON_VALID(m.body), m.body, '[]'), '$[*]' COLUMNS (
    order_id CHAR(36) PATH '$.orderId', activity_id BIGINT PATH '$.activityId')) AS named`;

/** I1, I4, I5 and I6 over the archive, in any snapshot: retention moves orders, and takes nothing from the books. */
export const archiveRules: readonly Rule[] = [
  {
    id: 'I1',
    says: 'activity that counts fewer archived places than the paid orders of it in the archive have',
    sql: (only) => `
      SELECT MAX(x.order_id) AS order_id FROM order_archive x JOIN activity a ON a.id = x.activity_id
      WHERE x.status = 'PAID' AND ${only('a.id')}
      GROUP BY a.id, a.sold_archived_units, a.sold_archived_orders
      HAVING SUM(x.quantity) > a.sold_archived_units OR COUNT(*) > a.sold_archived_orders`,
  },
  {
    id: 'I4',
    says: 'order that is pending in an archived activity, or took a place there since',
    sql: (only) => `
      SELECT DISTINCT o.id AS order_id FROM orders o JOIN activity a ON a.id = o.activity_id
      LEFT JOIN order_transition t ON t.order_id = o.id AND t.at > a.archived_at
        AND (t.to_status = 'PENDING' OR t.debit > 0)
      WHERE a.archived_at IS NOT NULL AND (o.status = 'PENDING' OR t.order_id IS NOT NULL) AND ${only('a.id')}`,
  },
  {
    id: 'I4',
    says: 'paid order that is archived though its activity is not',
    sql: (only) => `
      SELECT x.order_id FROM order_archive x JOIN activity a ON a.id = x.activity_id
      WHERE x.status = 'PAID' AND a.archived_at IS NULL AND ${only('a.id')}`,
  },
  {
    id: 'I6',
    says: 'archived paid order without a payment that was kept',
    sql: (only) => `
      SELECT x.order_id FROM order_archive x
      LEFT JOIN payment p ON p.order_id = x.order_id AND p.state = 'CAPTURED'
      WHERE x.status = 'PAID' AND p.id IS NULL AND ${only('x.activity_id')}`,
  },
  {
    id: 'I4',
    says: 'order that is in the archive and still among the orders',
    sql: (only) => `
      SELECT a.order_id FROM order_archive a JOIN orders o ON o.id = a.order_id
      WHERE o.status <> 'ABORTED' AND ${only('a.activity_id')}`,
  },
  {
    id: 'I4',
    says: 'order that vanished: a message names it, and it is neither there nor in the archive',
    sql: (only) => `
      SELECT DISTINCT gone.order_id FROM (
        SELECT UNHEX(REPLACE(named.order_id, '-', '')) AS order_id FROM ${namedByMessages}
        WHERE ${only('named.activity_id')}) AS gone
      LEFT JOIN orders o ON o.id = gone.order_id LEFT JOIN order_archive a ON a.order_id = gone.order_id
      WHERE o.id IS NULL AND a.order_id IS NULL`,
  },
  {
    id: 'I5',
    says: 'archived order that did not give its stock back once in MySQL, or gave back what it never held',
    sql: (only) => `
      SELECT a.order_id FROM order_archive a
      WHERE a.status <> 'PAID' AND (a.credit <> IF(a.status = 'ABORTED', 0, a.quantity) OR a.debit <> 0)
        AND ${only('a.activity_id')}`,
  },
  {
    id: 'I6',
    says: 'archived paid order that gave back stock which it did not take again',
    sql: (only) => `
      SELECT a.order_id FROM order_archive a
      WHERE a.status = 'PAID' AND (a.credit <> a.debit OR a.credit NOT IN (0, a.quantity))
        AND ${only('a.activity_id')}`,
  },
];

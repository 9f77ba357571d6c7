import type { Rule } from './rule.ts';

/** Messages that are read for the orders they name: 25 us each. The oldest, since retention begins with the oldest orders. */
const messagesMax = 200;

/** What messages say of the orders that were placed. A body that cannot be read names none. */
const namedByMessages = `
  (SELECT body FROM message_outbox ORDER BY id LIMIT ${messagesMax}) AS m JOIN JSON_TABLE(IF(JSON_VALID(m.body), m.body, '[]'), '$[*]' COLUMNS (
    order_id CHAR(36) PATH '$.orderId', activity_id BIGINT PATH '$.activityId')) AS named`;

/** I4 and I5 over the archive, in any snapshot: retention moves orders, and takes nothing from the books. */
export const archiveRules: readonly Rule[] = [
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
      WHERE (a.credit <> IF(a.status = 'ABORTED', 0, a.quantity) OR a.debit <> 0) AND ${only('a.activity_id')}`,
  },
];

import type { Rule } from './rule.ts';

/** The one way out of a final state: money that came late takes a free place again, of as many units. */
const takenAgain = `t.from_status = 'TIMEOUT_CLOSED' AND t.to_status = 'PAID' AND t.cause = 'payment' AND t.debit > 0`;

/** I1, I4, I5, I7 and I10: what MySQL alone must satisfy at every instant, in any snapshot. */
export const orderRules: readonly Rule[] = [
  {
    id: 'I1',
    says: 'activity with more units sold and held than its capacity',
    sql: (only) => takenByActivity(only('a.id'), 'taken > capacity'),
  },
  {
    id: 'I1',
    says: 'activity whose available units are not capacity minus what is sold and held',
    sql: (only) => takenByActivity(only('a.id'), 'available + taken <> capacity'),
  },
  {
    id: 'I4',
    says: 'step that is not allowed, or does not follow the one before it',
    sql: (only) => `
      SELECT t.order_id FROM order_transition t
      LEFT JOIN order_transition before_t ON before_t.order_id = t.order_id AND before_t.version = t.version - 1
      WHERE NOT COALESCE(
        (t.version = 1 AND t.from_status IS NULL AND t.to_status IN ('PENDING', 'ABORTED'))
        OR (t.version > 1 AND t.from_status = before_t.to_status
            AND (t.from_status = 'PENDING' AND t.to_status IN ('PAID', 'TIMEOUT_CLOSED', 'CANCELLED')
                 OR ${takenAgain})), FALSE) AND ${only('t.activity_id')}`,
  },
  {
    id: 'I4',
    says: 'order that left PENDING more than once',
    sql: (only) => `
      SELECT t.order_id FROM order_transition t WHERE t.from_status = 'PENDING' AND ${only('t.activity_id')}
      GROUP BY t.order_id HAVING COUNT(*) > 1`,
  },
  {
    id: 'I4',
    says: 'order whose status and version are not those of its last step',
    sql: (only) => `
      SELECT o.id AS order_id FROM orders o
      LEFT JOIN order_transition last_t ON last_t.order_id = o.id AND last_t.version = o.version
      LEFT JOIN order_transition next_t ON next_t.order_id = o.id AND next_t.version = o.version + 1
      WHERE (last_t.order_id IS NULL OR last_t.to_status <> o.status OR next_t.order_id IS NOT NULL)
        AND ${only('o.activity_id')}`,
  },
  {
    id: 'I4',
    says: 'step of an order that does not exist',
    sql: (only) => `
      SELECT DISTINCT t.order_id FROM order_transition t LEFT JOIN orders o ON o.id = t.order_id
      WHERE o.id IS NULL AND ${only('t.activity_id')}`,
  },
  {
    id: 'I5',
    says: 'order whose credits in MySQL are neither nothing nor its quantity, once',
    sql: (only) => stockByOrder(only('o.activity_id'), 'credit NOT IN (0, quantity) OR credits > 1'),
  },
  {
    id: 'I5',
    says: 'order whose debits in MySQL are neither nothing nor its quantity, once',
    sql: (only) => stockByOrder(only('o.activity_id'), 'debit NOT IN (0, quantity) OR debits > 1'),
  },
  {
    id: 'I5',
    says: 'closed order that did not give its stock back in MySQL',
    sql: (only) =>
      stockByOrder(only('o.activity_id'), "credit = 0 AND status IN ('TIMEOUT_CLOSED', 'CANCELLED')"),
  },
  {
    id: 'I5',
    says: 'order that gave stock back without being closed',
    sql: (only) => stockByOrder(only('o.activity_id'), "credit > 0 AND status IN ('PENDING', 'ABORTED')"),
  },
  {
    id: 'I5',
    says: 'order that took stock again without being paid',
    sql: (only) => stockByOrder(only('o.activity_id'), "debit > 0 AND status <> 'PAID'"),
  },
  {
    id: 'I7',
    says: 'order closed before its deadline',
    sql: (only) => `
      SELECT t.order_id FROM order_transition t JOIN orders o ON o.id = t.order_id
      WHERE t.to_status = 'TIMEOUT_CLOSED' AND t.at < o.expires_at AND ${only('o.activity_id')}`,
  },
  {
    id: 'I7',
    says: 'order closed while it was being paid, before its grace was over',
    sql: (only) => `
      SELECT DISTINCT t.order_id FROM order_transition t JOIN orders o ON o.id = t.order_id
      JOIN activity a ON a.id = o.activity_id JOIN payment_attempt p ON p.order_id = t.order_id
      WHERE t.to_status = 'TIMEOUT_CLOSED' AND t.at < o.expires_at + INTERVAL a.payment_grace_ms * 1000 MICROSECOND
        AND p.created_at <= t.at AND COALESCE(p.ended_at > t.at, TRUE) AND ${only('o.activity_id')}`,
  },
  {
    id: 'I7',
    says: 'order whose deadline was moved to before the one that its buyer was told',
    sql: (only) => `
      SELECT o.id AS order_id FROM orders o WHERE o.expires_at < o.first_expires_at AND ${only('o.activity_id')}`,
  },
  {
    id: 'I10',
    says: 'order with the buyer and idempotency key of another',
    sql: (only) => `
      SELECT MAX(o.id) AS order_id FROM orders o
      WHERE o.idempotency_key IS NOT NULL AND ${only('o.activity_id')}
      GROUP BY o.user_id, o.idempotency_key HAVING COUNT(*) > 1`,
  },
];

/** Names the newest active order of each activity where `wrong`. What is in the archive for good is taken. Sums are signed: a difference may be negative. */
function takenByActivity(only: string, wrong: string): string {
  return `
    SELECT order_id FROM (
      SELECT MAX(o.id) AS order_id, a.capacity AS capacity, a.available AS available,
        a.sold_archived_units + COALESCE(SUM(o.quantity), 0) AS taken
      FROM activity a
      LEFT JOIN orders o ON o.activity_id = a.id AND o.status IN ('PENDING', 'PAID')
      WHERE ${only}
      GROUP BY a.id, a.capacity, a.available, a.sold_archived_units) AS sums
    WHERE ${wrong}`;
}

/** What each order took and gave back over its life, where `wrong`. */
export function stockByOrder(only: string, wrong: string): string {
  return `
    SELECT order_id FROM (
      SELECT o.id AS order_id, o.status AS status, o.quantity AS quantity,
        SUM(t.credit) AS credit, SUM(t.credit > 0) AS credits, SUM(t.debit) AS debit, SUM(t.debit > 0) AS debits
      FROM orders o JOIN order_transition t ON t.order_id = o.id
      WHERE ${only}
      GROUP BY o.id, o.status, o.quantity) AS sums
    WHERE ${wrong}`;
}

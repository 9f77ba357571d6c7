import { ofOrderOrNone, type Rule } from './rule.ts';

/** I9: notices against the order's own record, in any snapshot. */
export const noticeRules: readonly Rule[] = [
  {
    id: 'I9',
    says: 'order with more than one notice of the same stage',
    sql: (only) => `
      SELECT n.order_id FROM notification n JOIN orders o ON o.id = n.order_id
      WHERE ${only('o.activity_id')}
      GROUP BY n.order_id, n.stage HAVING COUNT(*) > 1`,
  },
  {
    id: 'I9',
    says: 'order claimed for its reminder before it was due, or when it was not pending any more',
    sql: (only) => `
      SELECT o.id AS order_id FROM orders o
      WHERE o.reminded_at IS NOT NULL AND ${only('o.activity_id')}
        AND (o.reminded_at < o.remind_at OR o.paid_at < o.reminded_at OR o.closed_at < o.reminded_at
             OR o.status = 'ABORTED')`,
  },
  {
    id: 'I9',
    says: 'reminder sent for an order that was never claimed for it',
    sql: (only) => `
      SELECT n.order_id FROM notification n LEFT JOIN orders o ON o.id = n.order_id
      WHERE n.stage = 'REMINDER' AND n.state = 'SENT' AND o.reminded_at IS NULL AND ${ofOrderOrNone(only)}`,
  },
  {
    id: 'I9',
    says: 'notice of closing sent for an order that did not close',
    sql: (only) => `
      SELECT n.order_id FROM notification n LEFT JOIN orders o ON o.id = n.order_id
      WHERE n.stage = 'CLOSED' AND n.state = 'SENT' AND ${ofOrderOrNone(only)} AND NOT EXISTS (
        SELECT 1 FROM order_transition t
        WHERE t.order_id = n.order_id AND t.to_status IN ('TIMEOUT_CLOSED', 'CANCELLED'))`,
  },
];

/** The deadline that an order had when it was reminded: a move before that moved both, and one after it neither. */
const deadlineWhenReminded = `
  o.remind_at + INTERVAL TIMESTAMPDIFF(MICROSECOND, COALESCE(o.first_remind_at, o.remind_at),
    COALESCE(o.first_expires_at, o.expires_at)) MICROSECOND`;

/** An order that fails even alone waits for a person, who knows of it. One that cannot be reminded still closes. */
export function isNotParkedIn(phase: 1 | 2): string {
  return `NOT EXISTS (SELECT 1 FROM parked p
    WHERE p.order_id = o.id AND p.kind = 'order' AND p.state = 'PARKED' AND p.phase >= ${phase})`;
}

/** I11: once nothing is due any more, every buyer was told what there was to tell. */
export function noticesAtRest({
  overdueMs,
  noticeWaitMs,
}: {
  readonly overdueMs: number;
  readonly noticeWaitMs: number;
}): readonly Rule[] {
  return [
    {
      id: 'I11',
      says: 'order that closed and whose buyer is never told',
      sql: (only) => `
        SELECT t.order_id FROM order_transition t
        LEFT JOIN notification n ON n.order_id = t.order_id AND n.stage = 'CLOSED'
        WHERE t.to_status = 'TIMEOUT_CLOSED' AND n.id IS NULL AND ${only('t.activity_id')}`,
    },
    {
      id: 'I11',
      says: 'order claimed for its reminder in time and whose buyer is never reminded',
      sql: (only) => `
        SELECT o.id AS order_id FROM orders o
        LEFT JOIN notification n ON n.order_id = o.id AND n.stage = 'REMINDER'
        WHERE o.reminded_at < ${deadlineWhenReminded} AND n.id IS NULL AND ${only('o.activity_id')}`,
    },
    {
      id: 'I11',
      says: `order still pending and unreminded more than ${overdueMs} ms past its reminder, and not parked`,
      sql: (only) => `
        SELECT o.id AS order_id FROM orders o
        WHERE o.status = 'PENDING' AND o.reminded_at IS NULL
          AND o.remind_at < NOW(3) - INTERVAL ${overdueMs * 1_000} MICROSECOND
          AND ${isNotParkedIn(1)} AND ${only('o.activity_id')}`,
    },
    {
      id: 'I11',
      says: `notice that has waited for more than ${noticeWaitMs} ms`,
      sql: (only) => `
        SELECT n.order_id FROM notification n LEFT JOIN orders o ON o.id = n.order_id
        WHERE n.state = 'WAITING' AND n.created_at < NOW(3) - INTERVAL ${noticeWaitMs * 1_000} MICROSECOND
          AND ${ofOrderOrNone(only)}`,
    },
  ];
}

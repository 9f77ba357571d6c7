import { ofOrderOrNone, type Rule } from './rule.ts';

/** I11: events for the shop's own systems, once nothing is due any more. */
export function shopEventsAtRest(waitMs: number): readonly Rule[] {
  return [
    {
      id: 'I11',
      says: 'event for the shop that was sent before an earlier one of its order',
      sql: (only) => `
        SELECT DISTINCT e.order_id FROM shop_event e LEFT JOIN orders o ON o.id = e.order_id
        JOIN shop_event later ON later.order_id = e.order_id AND later.seq > e.seq AND later.state = 'SENT'
        WHERE (e.state = 'WAITING' OR e.state = 'SENT' AND later.sent_at < e.sent_at) AND ${ofOrderOrNone(only)}`,
    },
    {
      id: 'I11',
      says: `event for the shop that has waited for more than ${waitMs} ms`,
      sql: (only) => `
        SELECT e.order_id FROM shop_event e LEFT JOIN orders o ON o.id = e.order_id
        WHERE e.state = 'WAITING' AND e.created_at < NOW(3) - INTERVAL ${waitMs * 1_000} MICROSECOND
          AND ${ofOrderOrNone(only)}`,
    },
    {
      id: 'I11',
      says: 'event for the shop that is held back for nothing',
      sql: (only) => `
        SELECT DISTINCT e.order_id FROM shop_event e LEFT JOIN orders o ON o.id = e.order_id
        WHERE e.state = 'HELD' AND ${ofOrderOrNone(only)} AND NOT EXISTS (
          SELECT 1 FROM shop_event first_e
          WHERE first_e.order_id = e.order_id AND first_e.state IN ('WAITING', 'PARKED'))`,
    },
  ];
}

/** What the shop is told of each status that an order takes. */
const typeOfStatus = `
  CASE t.to_status WHEN 'PENDING' THEN 'created' WHEN 'PAID' THEN 'paid' WHEN 'TIMEOUT_CLOSED' THEN 'closed'
    WHEN 'CANCELLED' THEN 'cancelled' END`;

/** I11: where the shop wants to know, it is told of each step of each order, */
const shopIsToldOfOrders: Rule = {
  id: 'I11',
  says: 'order of which the shop is never told something',
  sql: (only) => `
    SELECT DISTINCT done.order_id FROM (
      SELECT t.order_id, ${typeOfStatus} AS type FROM order_transition t WHERE t.to_status <> 'ABORTED'
      UNION ALL SELECT n.order_id, 'reminded' FROM notification n WHERE n.stage = 'REMINDER'
      UNION ALL SELECT p.order_id, 'refunded' FROM payment p WHERE p.state = 'REFUNDED') AS done
    JOIN orders o ON o.id = done.order_id
    LEFT JOIN shop_event e ON e.order_id = done.order_id AND e.type = done.type
    WHERE e.id IS NULL AND ${only('o.activity_id')}`,
};

/** and of money that went back after its order had gone to the archive. What it was told before is in the history alone. */
const shopIsToldOfArchived: Rule = {
  id: 'I11',
  says: 'archived order of which the shop is never told that money went back since',
  sql: (only) => `
    SELECT DISTINCT p.order_id FROM payment p JOIN order_archive a ON a.order_id = p.order_id
    LEFT JOIN shop_event e ON e.order_id = p.order_id AND e.type = 'refunded'
    WHERE p.state = 'REFUNDED' AND p.refunded_at > a.archived_at AND e.id IS NULL AND ${only('a.activity_id')}`,
};

export const shopIsTold: readonly Rule[] = [shopIsToldOfOrders, shopIsToldOfArchived];

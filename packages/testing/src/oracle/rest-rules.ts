import { idToText, type MysqlSnapshot } from './mysql-snapshot.ts';
import type { Rule } from './rule.ts';
import { type Finding, orderIdsMax } from './verdict.ts';

export interface RestLimits {
  /** How long past its deadline an order may still be pending. */
  readonly overdueMs: number;
  /** How long a notice may wait for its channel. */
  readonly noticeWaitMs: number;
}

/** I8 and I11, where they can be said with orders: only once the system is at rest. */
export function restRules({ overdueMs, noticeWaitMs }: RestLimits): readonly Rule[] {
  return [
    {
      id: 'I8',
      says: `order still pending more than ${overdueMs} ms past its deadline, and not parked`,
      sql: (only) => `
        SELECT o.id AS order_id FROM orders o
        LEFT JOIN parked p ON p.order_id = o.id AND p.kind = 'order'
        WHERE o.status = 'PENDING' AND o.expires_at < NOW(3) - INTERVAL ${overdueMs * 1_000} MICROSECOND
          AND p.id IS NULL ${only('o.activity_id')}`,
    },
    {
      id: 'I11',
      says: `notice that has waited for more than ${noticeWaitMs} ms`,
      sql: (only) => `
        SELECT n.order_id FROM notification n LEFT JOIN orders o ON o.id = n.order_id
        WHERE n.state = 'WAITING' AND n.created_at < NOW(3) - INTERVAL ${noticeWaitMs * 1_000} MICROSECOND
          ${only('o.activity_id')}`,
    },
  ];
}

/** Rows of the outbox or of effects read to name orders; the count is complete. */
const rowsNamedMax = 5;

/** I11: nothing that a commit promised is still to do. Over all activities: a message may carry several. */
export async function findUnfinished(mysql: MysqlSnapshot): Promise<Finding[]> {
  const unsent = await mysql.rows<{ body: string; total: number }>(
    `SELECT body, COUNT(*) OVER () AS total FROM message_outbox WHERE sent_at IS NULL LIMIT ${rowsNamedMax}`,
  );
  const effects = await mysql.rows<{ kind: string; order_ids: Buffer; total: number }>(
    `SELECT kind, order_ids, COUNT(*) OVER () AS total FROM effect LIMIT ${rowsNamedMax}`,
  );
  const findings: Finding[] = [];
  if (unsent[0] !== undefined) {
    const orderIds = unsent.flatMap(({ body }) => ordersOfBody(body)).slice(0, orderIdsMax);
    findings.push({ id: 'I11', says: 'outbox row never sent', total: unsent[0].total, orderIds });
  }
  if (effects[0] !== undefined) {
    const orderIds = effects.flatMap((row) => ordersOfBlob(row.order_ids)).slice(0, orderIdsMax);
    const kinds = [...new Set(effects.map(({ kind }) => kind))].join(', ');
    findings.push({ id: 'I11', says: `effect not applied (${kinds})`, total: effects[0].total, orderIds });
  }
  return findings;
}

/** I11: what the broker gave up on is parked, where an operator sees it. */
export function findDeadLetters(count = 0): Finding[] {
  if (count === 0) return [];
  return [
    { id: 'I11', says: 'dead letter in the broker that nobody has parked', total: count, orderIds: [] },
  ];
}

function ordersOfBody(body: string): string[] {
  const orders: unknown = JSON.parse(body);
  if (!Array.isArray(orders)) return [];
  return orders.flatMap((order: { orderId?: unknown }) =>
    typeof order.orderId === 'string' ? [order.orderId] : [],
  );
}

function ordersOfBlob(blob: Buffer): string[] {
  const ids: string[] = [];
  for (let at = 0; at + 16 <= blob.length && ids.length < orderIdsMax; at += 16) {
    ids.push(idToText(blob.subarray(at, at + 16)));
  }
  return ids;
}

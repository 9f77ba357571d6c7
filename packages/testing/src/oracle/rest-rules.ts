import { idToText, type MysqlSnapshot } from './mysql-snapshot.ts';
import { isNotParkedIn, noticesAtRest } from './notice-rules.ts';
import { ofOrderOrNone, type Rule } from './rule.ts';
import { shopEventsAtRest, shopIsTold } from './shop-event-rules.ts';
import { type Finding, orderIdsMax } from './verdict.ts';

export interface RestLimits {
  /** How long past its deadline an order may still be pending, and past its reminder be unreminded. */
  readonly overdueMs: number;
  /** How long a notice or an event may wait for its receiver. */
  readonly noticeWaitMs: number;
  /** A provider takes refunds here, so none may be left undone. */
  readonly refundsArePaid: boolean;
  /** The shop's own systems are told of each step. */
  readonly shopWantsEvents: boolean;
}

/** I8 and I11, where they can be said with orders: only once the system is at rest. */
export function restRules({
  overdueMs,
  noticeWaitMs,
  refundsArePaid,
  shopWantsEvents,
}: RestLimits): readonly Rule[] {
  return [
    {
      id: 'I8',
      says: `order still pending more than ${overdueMs} ms past its deadline, and not parked`,
      sql: (only) => `
        SELECT o.id AS order_id FROM orders o
        WHERE o.status = 'PENDING' AND o.expires_at < NOW(3) - INTERVAL ${overdueMs * 1_000} MICROSECOND
          AND ${isNotParkedIn(2)} AND ${only('o.activity_id')}`,
    },
    ...noticesAtRest({ overdueMs, noticeWaitMs }),
    ...moneyAtRest,
    ...(refundsArePaid ? [refundsPaid] : []),
    ...shopEventsAtRest(noticeWaitMs),
    ...(shopWantsEvents ? shopIsTold : []),
  ];
}

const moneyAtRest: readonly Rule[] = [
  {
    id: 'I11',
    says: 'payment that still waits for its order to become visible',
    sql: (only) => `
      SELECT p.order_id FROM payment p LEFT JOIN orders o ON o.id = p.order_id
      WHERE p.state = 'WAITING' AND ${ofOrderOrNone(only)}`,
  },
  {
    id: 'I11',
    says: 'payment attempt that is open though its order is final',
    sql: (only) => `
      SELECT t.order_id FROM payment_attempt t LEFT JOIN orders o ON o.id = t.order_id
      WHERE t.state IN ('CREATING', 'OPEN') AND (o.id IS NULL OR o.status <> 'PENDING') AND ${ofOrderOrNone(only)}`,
  },
  {
    id: 'I11',
    says: 'pending order that waits for an attempt although none is open, or does not wait for one that is',
    sql: (only) => `
      SELECT o.id AS order_id FROM orders o
      WHERE o.status = 'PENDING' AND ${only('o.activity_id')} AND (o.settle_until IS NOT NULL) <> EXISTS (
        SELECT 1 FROM payment_attempt t WHERE t.order_id = o.id AND t.state IN ('CREATING', 'OPEN'))`,
  },
];

/** Without a provider a refund that is due stays due: somebody pays it by hand. */
const refundsPaid: Rule = {
  id: 'I11',
  says: 'refund that is due and was not made',
  sql: (only) => `
    SELECT p.order_id FROM payment p LEFT JOIN orders o ON o.id = p.order_id
    WHERE p.state IN ('REFUND_PENDING', 'REFUND_FAILED') AND ${ofOrderOrNone(only)}`,
};

/** I3: what the auditor saw differ, and nobody has put right since. A refund that failed is money, and I11. */
export const unhealedFindings: Rule = {
  id: 'I3',
  says: 'finding of the auditor that is not healed',
  sql: (only) => `
    SELECT NULL AS order_id FROM audit_finding f WHERE f.healed_at IS NULL AND f.kind <> 'refund_failed'
      AND (f.activity_id IS NULL OR ${only('f.activity_id')})`,
};

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

import { attemptIsOpen } from './attempt-row.ts';
import { idFromBytes, idList } from './binary-id.ts';
import type { Database } from './database.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import type { WatchedOrder } from './order-views.ts';
import { withRetriedSession } from './transaction.ts';

interface WatchedRow extends OrderRow {
  readonly activity_name: string;
}
interface MoneyRow {
  readonly order_id: Buffer;
  readonly state: NonNullable<WatchedOrder['refund']> | 'OPEN';
}

const noOrders: (WatchedOrder | undefined)[] = [];

/**
 * Orders that somebody looks at, by primary key, with what became of their money. Two statements for all of them
 * together: what it costs rises with who is watching, never with what is sold. The ledger was looked at instead and
 * left: it has no index by time, and one would cost every order of a rush its part.
 */
export async function watchOrders(
  database: Database,
  ids: readonly string[],
): Promise<(WatchedOrder | undefined)[]> {
  if (ids.length === 0) return noOrders;
  const list = idList(ids);
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<WatchedRow>(
      `SELECT ${orderColumns}, (SELECT name FROM activity WHERE activity.id = orders.activity_id) AS activity_name
       FROM orders WHERE id IN (?)`,
      [list],
    );
    const money = await session.rows<MoneyRow>(
      `SELECT order_id, state FROM payment WHERE order_id IN (?)
         AND state IN ('REFUND_PENDING', 'REFUNDED', 'QUARANTINED', 'REFUND_FAILED', 'DISMISSED')
       UNION ALL
       SELECT order_id, 'OPEN' FROM payment_attempt WHERE order_id IN (?) AND ${attemptIsOpen}`,
      [list, list],
    );
    const orders = new Map(
      rows.map((row) => [idFromBytes(row.id), { activityName: row.activity_name, ...toOrder(row) }]),
    );
    const paying = new Set<string>();
    const refunds = new Map<string, NonNullable<WatchedOrder['refund']>>();
    for (const { order_id, state } of money) {
      if (state === 'OPEN') paying.add(idFromBytes(order_id));
      else refunds.set(idFromBytes(order_id), state);
    }
    return ids.map((id) => {
      const order = orders.get(id);
      if (order === undefined) return undefined;
      const { firstRemindAt, firstExpiresAt, idempotencyKey, requestHash, locale, version, ...shown } = order;
      return { ...shown, isBeingPaid: paying.has(id), refund: refunds.get(id) ?? null };
    });
  });
}

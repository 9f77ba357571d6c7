import { idFromBytes, idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { OrderRow } from './order-row.ts';
import type { OrderSummary, SummaryFilter } from './order-views.ts';
import { closedSince } from './read-closings.ts';
import { withRetriedSession } from './transaction.ts';
import { userFromBytes, userToBytes } from './user-bytes.ts';

const columns = 'id, user_id, activity_id, quantity, status, created_at, expires_at, paid_at, closed_at';

type SummaryRow = Pick<
  OrderRow,
  | 'id'
  | 'user_id'
  | 'activity_id'
  | 'quantity'
  | 'status'
  | 'created_at'
  | 'expires_at'
  | 'paid_at'
  | 'closed_at'
>;

/** The buyer's newest orders: ids rise with time. */
export function listBuyerOrders(database: Database, userId: string, limit: number): Promise<OrderSummary[]> {
  return listSummaries(database, { by: 'user', userId }, limit);
}

/** Orders by what a person knows of them. A fence is no order of anybody's, and is found by its id alone. */
export function listSummaries(
  database: Database,
  filter: SummaryFilter,
  limit: number,
): Promise<OrderSummary[]> {
  const { where, values } = conditionOf(filter);
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<SummaryRow>(`SELECT ${columns} FROM orders ${where} LIMIT ?`, [
      ...values,
      limit,
    ]);
    return rows.map((row) => ({
      id: idFromBytes(row.id),
      userId: userFromBytes(row.user_id),
      activityId: row.activity_id,
      quantity: row.quantity,
      status: row.status,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      paidAt: row.paid_at,
      closedAt: row.closed_at,
    }));
  });
}

function conditionOf(filter: SummaryFilter): { where: string; values: unknown[] } {
  switch (filter.by) {
    case 'order':
      return { where: 'WHERE id = ?', values: [idToBytes(filter.id)] };
    case 'user':
      return {
        where: "WHERE user_id = ? AND status <> 'ABORTED' ORDER BY id DESC",
        values: [userToBytes(filter.userId)],
      };
    case 'payment':
      return {
        where: 'WHERE id IN (SELECT order_id FROM payment WHERE payment_id = ?) ORDER BY id DESC',
        values: [Buffer.from(filter.paymentId, 'utf8')],
      };
    case 'activity':
      return {
        where: `WHERE activity_id = ? AND active_user IS NOT NULL
          ${filter.status === undefined ? '' : 'AND status = ?'} ORDER BY expires_at`,
        values: [filter.activityId, ...(filter.status === undefined ? [] : [filter.status])],
      };
    case 'status':
      return { where: 'WHERE status = ? ORDER BY expires_at DESC', values: [filter.status] };
    case 'due':
      return {
        where: "WHERE status = 'PENDING' AND expires_at >= NOW(3) + INTERVAL ? MINUTE ORDER BY expires_at",
        // Minute 0 holds what is overdue as well.
        values: [filter.fromMinute === 0 ? -5_256_000 : filter.fromMinute],
      };
    case 'late':
      return {
        where: `WHERE ${closedSince} ORDER BY TIMESTAMPDIFF(MICROSECOND, expires_at, closed_at) DESC`,
        values: [filter.sinceMs * 1_000],
      };
  }
}

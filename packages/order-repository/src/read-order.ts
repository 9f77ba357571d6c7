import { idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { Order } from './order.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import { readArchivedOrder } from './read-archived-order.ts';
import { withRetriedSession } from './transaction.ts';

/** An order, also one that is in the archive. */
export function readOrder(database: Database, id: string): Promise<Order | undefined> {
  const orderId = idToBytes(id);
  return withRetriedSession(database, async (session) => {
    const [row] = await session.rows<OrderRow>(`SELECT ${orderColumns} FROM orders WHERE id = ?`, [orderId]);
    return row ? toOrder(row) : readArchivedOrder(session, orderId);
  });
}

import { idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { Order } from './order.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import { withRetriedSession } from './transaction.ts';

export function readOrder(database: Database, id: string): Promise<Order | undefined> {
  return withRetriedSession(database, async (session) => {
    const [row] = await session.rows<OrderRow>(`SELECT ${orderColumns} FROM orders WHERE id = ?`, [
      idToBytes(id),
    ]);
    return row && toOrder(row);
  });
}

import { decodeHistory } from './archive-history.ts';
import type { Order } from './order.ts';
import { toOrder } from './order-row.ts';
import type { Session } from './session.ts';

/**
 * An order as the archive has it. Asked after its table, by the same transaction or a later one: an order is in the
 * archive before it is not in its table any more.
 */
export async function readArchivedOrder(session: Session, id: Buffer): Promise<Order | undefined> {
  const [row] = await session.rows<{ history: Buffer }>(
    'SELECT history FROM order_archive WHERE order_id = ?',
    [id],
  );
  return row && toOrder(decodeHistory(row.history).order);
}

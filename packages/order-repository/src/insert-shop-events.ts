import { idToBytes, newId, packIds } from './binary-id.ts';
import type { Session } from './session.ts';
import type { ShopEventType } from './shop-event.ts';

export const effectInsert =
  'INSERT INTO effect (id, batch_id, kind, activity_id, order_ids, detail) VALUES ?';

/**
 * Write down, in the caller's transaction, that the shop is to be told of this change of these orders: one row
 * whatever their number. `expandShopEvents` makes events of it later. Does nothing, and costs nothing, unless
 * the repository was opened with `shopEvents`.
 */
export async function insertShopEvents(
  session: Session,
  type: ShopEventType,
  orderIds: readonly string[],
): Promise<void> {
  if (!session.shopEvents || orderIds.length === 0) return;
  await session.run(effectInsert, [[shopEventEffect(idToBytes(newId()), type, packIds(orderIds))]]);
}

/** The values of such a row, for a statement that writes other effects too. */
export function shopEventEffect(batchId: Buffer, type: ShopEventType, packedIds: Buffer): unknown[] {
  return [idToBytes(newId()), batchId, 'shop_event', null, packedIds, type];
}

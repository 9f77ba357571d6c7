import type { Session } from './session.ts';
import type { ShopEventState } from './shop-event.ts';

/**
 * Free the next event of each order that has none under way: its first HELD one becomes WAITING. All undelivered
 * events of the orders are locked for it, so that a delivery that ends and an expansion that begins at the
 * same time see each other, whichever is first.
 * @param ids orders, sorted.
 */
export async function releaseNextEvents(session: Session, ids: readonly Buffer[]): Promise<void> {
  if (ids.length === 0) return;
  const rows = await session.rows<{ id: number; order_id: Buffer; state: ShopEventState }>(
    `SELECT id, order_id, state FROM shop_event FORCE INDEX (shop_event_order)
     WHERE order_id IN (?) AND state <> 'SENT' ORDER BY order_id, seq, id FOR UPDATE`,
    [ids],
  );
  const next: number[] = [];
  const seen = new Set<string>();
  const underWay = new Set(
    rows.filter(({ state }) => state !== 'HELD').map(({ order_id }) => order_id.toString('hex')),
  );
  for (const { id, order_id } of rows) {
    const order = order_id.toString('hex');
    if (underWay.has(order) || seen.has(order)) continue;
    seen.add(order);
    next.push(id);
  }
  if (next.length === 0) return;
  await session.run(
    `UPDATE shop_event SET state = 'WAITING', next_attempt_at = NOW(3) WHERE id IN (?) AND state = 'HELD'`,
    [next],
  );
}

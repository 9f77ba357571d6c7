import { idFromBytes, idToBytes, unpackIds } from './binary-id.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import type { Session } from './session.ts';
import type { ReacquireEffect, StockEffect } from './stock-effect.ts';
import { withRetriedSession } from './transaction.ts';
import { userFromBytes } from './user-bytes.ts';

interface EffectRow {
  readonly id: Buffer;
  readonly kind: StockEffect['kind'];
  readonly activity_id: number;
  readonly order_ids: Buffer;
  readonly detail: string | null;
}

type ReacquiredOrders = ReadonlyMap<string, ReacquireEffect['orders'][number]>;

/**
 * Stock effects committed some time ago and not marked applied. Several callers may get the same ones:
 * applying is idempotent. Those tried least come first, so that an activity which Redis refuses for now does
 * not keep the others waiting.
 */
export function listPendingEffects(
  database: Database,
  { olderThanMs, limit }: { olderThanMs: number; limit: number },
): Promise<StockEffect[]> {
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<EffectRow>(
      `SELECT id, kind, activity_id, order_ids, detail FROM effect
       WHERE kind IN ('release', 'confirm', 'reacquire', 'capacity')
         AND created_at <= NOW(3) - INTERVAL ? MICROSECOND
       ORDER BY attempts, created_at LIMIT ?`,
      [olderThanMs * 1_000, limit],
    );
    if (rows.length === 0) return [];
    await session.run('UPDATE effect SET attempts = attempts + 1 WHERE id IN (?)', [
      rows.map(({ id }) => id),
    ]);
    const reacquired = await readReacquired(session, rows);
    return rows.map((row) => toEffect(row, reacquired));
  });
}

/** An order's buyer and quantity never change, so the effect's row names its orders alone. */
async function readReacquired(session: Session, rows: readonly EffectRow[]): Promise<ReacquiredOrders> {
  const ids = rows.filter(({ kind }) => kind === 'reacquire').flatMap((row) => unpackIds(row.order_ids));
  if (ids.length === 0) return new Map();
  const orders = await session.rows<{ id: Buffer; user_id: Buffer; quantity: number }>(
    'SELECT id, user_id, quantity FROM orders FORCE INDEX (PRIMARY) WHERE id IN (?)',
    [ids.map(idToBytes)],
  );
  return new Map(
    orders.map(({ id, user_id, quantity }) => {
      const orderId = idFromBytes(id);
      return [orderId, { orderId, userId: userFromBytes(user_id), quantity }];
    }),
  );
}

function toEffect(row: EffectRow, reacquired: ReacquiredOrders): StockEffect {
  const base = { id: idFromBytes(row.id), activityId: row.activity_id, orderIds: unpackIds(row.order_ids) };
  if (row.kind === 'release' || row.kind === 'confirm') return { ...base, kind: row.kind };
  if (row.kind === 'capacity') {
    const [version, capacity] = (row.detail ?? '').split(':').map(Number);
    if (!version || capacity === undefined) throw new InvariantError(`effect ${base.id} names no capacity`);
    return { ...base, kind: 'capacity', version, capacity };
  }
  const orders = base.orderIds.map((orderId) => {
    const order = reacquired.get(orderId);
    if (order === undefined) throw new InvariantError(`effect ${base.id} names an order that is not there`);
    return order;
  });
  return { ...base, kind: 'reacquire', orders };
}

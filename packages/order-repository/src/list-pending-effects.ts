import { idFromBytes, unpackIds } from './binary-id.ts';
import type { Database } from './database.ts';
import type { StockEffect } from './stock-effect.ts';
import { withRetriedSession } from './transaction.ts';

interface EffectRow {
  readonly id: Buffer;
  readonly kind: StockEffect['kind'];
  readonly activity_id: number;
  readonly order_ids: Buffer;
}

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
      `SELECT id, kind, activity_id, order_ids FROM effect
       WHERE kind IN ('release', 'confirm') AND created_at <= NOW(3) - INTERVAL ? MICROSECOND
       ORDER BY attempts, created_at LIMIT ?`,
      [olderThanMs * 1_000, limit],
    );
    if (rows.length === 0) return [];
    await session.run('UPDATE effect SET attempts = attempts + 1 WHERE id IN (?)', [
      rows.map(({ id }) => id),
    ]);
    return rows.map((row) => ({
      id: idFromBytes(row.id),
      kind: row.kind,
      activityId: row.activity_id,
      orderIds: unpackIds(row.order_ids),
    }));
  });
}

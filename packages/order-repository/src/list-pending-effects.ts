import { idFromBytes, idToBytes, unpackIds } from './binary-id.ts';
import type { Database } from './database.ts';
import type { RepositoryLog } from './order-repository.ts';
import type { Session } from './session.ts';
import type { ReacquireEffect, StockEffect } from './stock-effect.ts';
import { withRetriedSession } from './transaction.ts';
import { userFromBytes } from './user-bytes.ts';

/** An effect that cannot be read is reported at its first try, and then once in so many: every five minutes or so. */
const triesPerReport = 300;

const kinds = [
  'release',
  'confirm',
  'reacquire',
  'capacity',
] as const satisfies readonly StockEffect['kind'][];

/** A kind at a time, so that each is a range of the index, read in its order and no further than the limit. */
const oldestOfKind = `(SELECT id, attempts, created_at FROM effect FORCE INDEX (effect_pending)
   WHERE kind = ? AND created_at <= NOW(3) - INTERVAL ? MICROSECOND ORDER BY attempts, created_at LIMIT ?)`;

interface EffectRow {
  readonly id: Buffer;
  readonly kind: StockEffect['kind'];
  readonly attempts: number;
  readonly activity_id: number;
  readonly order_ids: Buffer;
  readonly detail: string | null;
}

type ReacquiredOrders = ReadonlyMap<string, ReacquireEffect['orders'][number]>;

/**
 * Stock effects committed some time ago and not marked applied. Several callers may get the same ones:
 * applying is idempotent. Those tried least come first, so that an activity which Redis refuses for now does
 * not keep the others waiting. One that names what is not there is left out and reported, and stays.
 */
export function listPendingEffects(
  database: Database,
  log: RepositoryLog,
  { olderThanMs, limit }: { olderThanMs: number; limit: number },
): Promise<StockEffect[]> {
  return withRetriedSession(database, async (session) => {
    const oldest = await session.rows<{ id: Buffer }>(
      `${kinds.map(() => oldestOfKind).join(' UNION ALL ')} ORDER BY attempts, created_at LIMIT ?`,
      [...kinds.flatMap((kind) => [kind, olderThanMs * 1_000, limit]), limit],
    );
    if (oldest.length === 0) return [];
    const ids = oldest.map(({ id }) => id);
    // Read before the tries are counted: so those that were tried least come first here too.
    const rows = await session.rows<EffectRow>(
      `SELECT id, kind, attempts, activity_id, order_ids, detail FROM effect FORCE INDEX (PRIMARY)
       WHERE id IN (?) ORDER BY attempts, created_at`,
      [ids],
    );
    await session.run('UPDATE effect SET attempts = attempts + 1 WHERE id IN (?)', [ids]);
    const reacquired = await readReacquired(session, rows);
    return rows.flatMap((row) => {
      const effect = toEffect(row, reacquired);
      if (typeof effect !== 'string') return [effect];
      if (row.attempts % triesPerReport === 0) {
        log.error({ effect: idFromBytes(row.id), kind: row.kind, reason: effect }, unreadable);
      }
      return [];
    });
  });
}

const unreadable = 'a stock effect cannot be read and stays in the table "effect"';

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

/** @returns why it cannot be read, if so. */
function toEffect(row: EffectRow, reacquired: ReacquiredOrders): StockEffect | string {
  const base = { id: idFromBytes(row.id), activityId: row.activity_id, orderIds: unpackIds(row.order_ids) };
  if (row.kind === 'release' || row.kind === 'confirm') return { ...base, kind: row.kind };
  if (row.kind === 'capacity') {
    const [version, capacity] = (row.detail ?? '').split(':').map(Number);
    if (!version || capacity === undefined) return 'it names no capacity';
    return { ...base, kind: 'capacity', version, capacity };
  }
  const orders = base.orderIds.flatMap((orderId) => reacquired.get(orderId) ?? []);
  if (orders.length < base.orderIds.length) return 'it names an order that is not there';
  return { ...base, kind: 'reacquire', orders };
}

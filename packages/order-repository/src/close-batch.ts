import type { TransitionCause } from '@lapse/contracts';
import type { ClosedOrder } from './batch-result.ts';
import { idToBytes, newId, packedIdList, unpackIds } from './binary-id.ts';
import { givePlaces, type PlacesChange } from './change-places.ts';
import { InvariantError } from './errors.ts';
import { insertEffects } from './insert-effects.ts';
import type { Session } from './session.ts';
import type { StockEffect } from './stock-effect.ts';
import type { Witness } from './transaction.ts';

/** An order that this transaction holds the lock of, and found pending. */
export interface DueRow {
  readonly id: Buffer;
  readonly activity_id: number;
  readonly quantity: number;
  readonly late_us: number;
}

/** What a locking read of due orders must select, for `closeLocked`. */
export const dueColumns =
  'id, activity_id, quantity, TIMESTAMPDIFF(MICROSECOND, expires_at, NOW(3)) AS late_us';

/**
 * An order that is being paid waits for its provider's word until then, and not longer. NULL, and so free to read, for
 * all orders without an open attempt.
 */
export const notSettling = '(settle_until IS NULL OR settle_until <= NOW(3))';

/** How orders end: at their deadline with a notice, or by a hand: their buyer's or an operator's. */
export interface CloseManner {
  readonly toStatus: 'TIMEOUT_CLOSED' | 'CANCELLED';
  readonly cause: TransitionCause;
  readonly actor?: Buffer;
}

export interface ClosedBatch {
  readonly closed: readonly ClosedOrder[];
  readonly effects: readonly StockEffect[];
  /** Null when nothing was closed. */
  readonly witness: Witness | null;
}

/**
 * Close orders whose locks this transaction holds: status, transitions, effects, and last the activities'
 * credit, sorted. The comparison of the status makes the change the compare-and-set that decides against
 * a payment; the ledger's key makes a second credit impossible.
 */
export async function closeLocked(
  session: Session,
  rows: readonly DueRow[],
  { toStatus, cause, actor }: CloseManner,
): Promise<ClosedBatch> {
  const [first] = rows;
  if (first === undefined) return { closed: [], effects: [], witness: null };
  const packed = Buffer.concat(rows.map(({ id }) => id));
  const ids = packedIdList(packed);
  const batchId = idToBytes(newId());
  // One time for the batch, and later than all that was committed before these rows were locked: a reminder, for one.
  const { affectedRows } = await session.run(
    `UPDATE orders FORCE INDEX (PRIMARY) SET status = ?, version = version + 1, closed_at = NOW(3)
     WHERE id IN (?) AND status = 'PENDING'`,
    [toStatus, ids],
  );
  if (affectedRows !== rows.length) {
    throw new InvariantError(`${affectedRows} of ${rows.length} locked orders were still pending`);
  }
  await session.run(
    `INSERT INTO order_transition
       (order_id, version, activity_id, from_status, to_status, cause, at, credit, effect_batch_id, actor)
     SELECT id, version, activity_id, 'PENDING', status, ?, closed_at, quantity, ?, ?
     FROM orders FORCE INDEX (PRIMARY) WHERE id IN (?)`,
    [cause, batchId, actor ?? null, ids],
  );
  const effects = await insertEffects(session, {
    batchId,
    kind: 'release',
    shopEvent: toStatus === 'TIMEOUT_CLOSED' ? 'closed' : 'cancelled',
    idsByActivity: packByActivity(rows),
    ...(toStatus === 'TIMEOUT_CLOSED' ? { closedNotice: packed } : {}),
  });
  await givePlaces(session, sumByActivity(rows));
  return {
    closed: toClosedOrders(rows, unpackIds(packed)),
    effects,
    witness: {
      sql: 'SELECT 1 FROM order_transition WHERE order_id = ? AND effect_batch_id = ?',
      values: [first.id, batchId],
    },
  };
}

function toClosedOrders(rows: readonly DueRow[], orderIds: readonly string[]): ClosedOrder[] {
  return rows.map((row, index) => ({
    orderId: orderIds[index] as string,
    activityId: row.activity_id,
    quantity: row.quantity,
    latenessMs: row.late_us / 1_000,
  }));
}

function sumByActivity(rows: readonly DueRow[]): PlacesChange[] {
  const sums = new Map<number, number>();
  for (const { activity_id, quantity } of rows) {
    sums.set(activity_id, (sums.get(activity_id) ?? 0) + quantity);
  }
  return [...sums].map(([activityId, places]) => ({ activityId, places }));
}

function packByActivity(rows: readonly DueRow[]): Map<number, Buffer> {
  const groups = new Map<number, Buffer[]>();
  for (const { activity_id, id } of rows) {
    const group = groups.get(activity_id);
    if (group) group.push(id);
    else groups.set(activity_id, [id]);
  }
  return new Map([...groups].map(([activityId, ids]) => [activityId, Buffer.concat(ids)]));
}

import type { OrderStatus } from '@lapse/contracts';
import { idFromBytes, idToBytes, newId } from './binary-id.ts';
import type { Database } from './database.ts';
import { insertEffects } from './insert-effects.ts';
import type { Session } from './session.ts';
import type { SnapshotHold, StockSnapshot } from './snapshot.ts';
import { inTransaction } from './transaction.ts';
import { userFromBytes } from './user-bytes.ts';

interface ActivityRow {
  readonly capacity: number;
  readonly capacity_version: number;
  readonly available: number;
  readonly generation: number;
  readonly stock_run_id: string | null;
}
interface ActiveRow {
  readonly id: Buffer;
  readonly user_id: Buffer;
  readonly quantity: number;
  readonly status: OrderStatus;
}

/**
 * Load an activity's stock into Redis from MySQL's truth: lock the activity, read its active orders,
 * let `apply` write Redis under the next generation, note that and the run id of the server that took it, commit. While the lock is held nothing can be created, closed or
 * cancelled in the activity, and a hold of an older generation is refused for ever after. `apply` must put
 * the generation in last, and may be called again when the transaction repeats.
 *
 * A payment needs no activity lock, so it may commit in between, and its confirm may reach the old keys.
 * Orders that became PAID since they were read are therefore confirmed once more, by an effect of this
 * transaction. Any later payment meets the new keys.
 *
 * Does nothing when there is no such activity. If the commit fails, Redis has a generation that MySQL never
 * gave out: it refuses to sell until the next rebuild.
 */
export async function rebuildSnapshot(
  database: Database,
  activityId: number,
  apply: (snapshot: StockSnapshot) => Promise<string>,
): Promise<void> {
  await inTransaction(
    database,
    (session) => rebuildOnce(session, activityId, apply),
    (generation) =>
      generation === null
        ? null
        : {
            sql: 'SELECT 1 FROM activity WHERE id = ? AND generation >= ?',
            values: [activityId, generation],
          },
  );
}

async function rebuildOnce(
  session: Session,
  activityId: number,
  apply: (snapshot: StockSnapshot) => Promise<string>,
): Promise<number | null> {
  const [activity] = await session.rows<ActivityRow>(
    'SELECT capacity, capacity_version, available, generation, stock_run_id FROM activity WHERE id = ? FOR UPDATE',
    [activityId],
  );
  if (activity === undefined) return null;
  const generation = activity.generation + 1;
  // Every active order has its active_user, so the unique key is a list of them.
  const rows = await session.rows<ActiveRow>(
    `SELECT id, user_id, quantity, status FROM orders FORCE INDEX (orders_active_user)
     WHERE activity_id = ? AND active_user IS NOT NULL`,
    [activityId],
  );
  const holds = rows.map(toHold);
  const runId = await apply({
    activityId,
    generation,
    capacity: activity.capacity,
    capacityVersion: activity.capacity_version,
    available: activity.available,
    stockRunId: activity.stock_run_id,
    holds,
  });
  await session.run('UPDATE activity SET generation = ?, stock_run_id = ? WHERE id = ?', [
    generation,
    runId,
    activityId,
  ]);
  await confirmAgain(session, activityId, holds);
  return generation;
}

function toHold(row: ActiveRow): SnapshotHold {
  return {
    orderId: idFromBytes(row.id),
    userId: userFromBytes(row.user_id),
    quantity: row.quantity,
    state: row.status === 'PAID' ? 'sold' : 'held',
  };
}

async function confirmAgain(
  session: Session,
  activityId: number,
  holds: readonly SnapshotHold[],
): Promise<void> {
  const rows = await session.rows<{ id: Buffer }>(
    `SELECT id FROM orders FORCE INDEX (orders_active_user)
     WHERE activity_id = ? AND active_user IS NOT NULL AND status = 'PAID'`,
    [activityId],
  );
  const held = new Set(holds.filter(({ state }) => state === 'held').map(({ orderId }) => orderId));
  const paid = rows.map(({ id }) => idFromBytes(id)).filter((id) => held.has(id));
  if (paid.length === 0) return;
  await insertEffects(session, {
    batchId: idToBytes(newId()),
    kind: 'confirm',
    idsByActivity: new Map([[activityId, paid]]),
  });
}

import { archiveLocked } from './archive-locked.ts';
import { idFromBytes, sortedIdBytes } from './binary-id.ts';
import { bisect } from './bisect.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import { orLocked } from './find-locked.ts';
import type { RepositoryLog } from './order-repository.ts';
import type { ArchivedSoldOrders, ArchiveSoldOptions } from './retention.ts';
import type { Session } from './session.ts';
import { type TimelineOrderRow, timelineOrderColumns } from './timeline-rows.ts';
import { inTransaction, withRetriedSession } from './transaction.ts';
import { userFromBytes, userToBytes } from './user-bytes.ts';

/** The activity may let go of its paid orders: nothing is sold in it any more, and Redis has forgotten it. */
const isForgotten = 'archived_at IS NOT NULL AND stock_run_id IS NULL';

/**
 * Put one batch of an archived activity's paid orders in the archive and delete them, as `archiveOrders` does with those
 * that ended unsold. Their places stay taken: the activity counts them from then on (`sold_archived_orders`,
 * `sold_archived_units`), by an update of the same transaction, so that at every commit `available` is its capacity less
 * what is active and what was archived.
 *
 * Of an activity that still sells no paid order goes: it is what refuses its buyer a second one. By the key of active
 * buyers. What has anything open stays, and so does its payment in any case. Nothing is waited for but the row of the
 * activity, which nobody else changes. Idempotent; any number of sweepers at once.
 */
export async function archiveSoldOrders(
  database: Database,
  log: RepositoryLog,
  options: ArchiveSoldOptions,
): Promise<ArchivedSoldOrders> {
  const { activityId, limit, afterUserId } = options;
  const candidates = await withRetriedSession(database, (session) =>
    session.rows<{ id: Buffer; user_id: Buffer }>(
      `SELECT id, user_id FROM orders FORCE INDEX (orders_active_user)
       WHERE activity_id = ? AND active_user > ? ORDER BY active_user LIMIT ?`,
      // No user is empty, so the empty one comes before all.
      [activityId, userToBytes(afterUserId ?? ''), limit],
    ),
  );
  const last = candidates.at(-1);
  if (last === undefined) return { archived: 0, left: 0, isHeldUp: false, next: null };
  const { results, failures } = await bisect(
    candidates.map(({ id }) => idFromBytes(id)),
    (ids) =>
      inTransaction(
        database,
        (session) => archiveOnce(session, sortedIdBytes(ids), options),
        // Not known to be done: the next call finds them again, or does not.
        () => null,
      ),
  );
  for (const { id, error } of failures)
    log.error({ orderId: id, err: error }, 'a paid order cannot be archived');
  const archived = results.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const isHeldUp = results.includes(null);
  return {
    archived,
    left: candidates.length - archived,
    isHeldUp,
    next: candidates.length < limit ? null : userFromBytes(last.user_id),
  };
}

/** @returns how many of them are archived now; null: old effects hold all of them up. */
async function archiveOnce(
  session: Session,
  ids: readonly Buffer[],
  { activityId, olderThanMs }: ArchiveSoldOptions,
): Promise<number | null> {
  const [forgotten] = await session.rows(`SELECT 1 FROM activity WHERE id = ? AND ${isForgotten}`, [
    activityId,
  ]);
  if (forgotten === undefined) return 0;
  const olderThanUs = olderThanMs * 1_000;
  const orders = await session.rows<TimelineOrderRow>(
    `SELECT ${timelineOrderColumns} FROM orders FORCE INDEX (PRIMARY)
     WHERE id IN (?) AND status = 'PAID' AND paid_at <= NOW(3) - INTERVAL ? MICROSECOND
       AND expires_at <= NOW(3) - INTERVAL ? MICROSECOND AND idempotency_key IS NULL
     ORDER BY id FOR UPDATE SKIP LOCKED`,
    [ids, olderThanUs, olderThanUs],
  );
  const archived = await archiveLocked(session, orders, { olderThanMs });
  if (archived === null) return null;
  if (archived.length > 0) await countArchived(session, activityId, archived);
  return archived.length;
}

/** Last, as every update of an activity: a load by an older release may have its row locked. */
async function countArchived(
  session: Session,
  activityId: number,
  archived: readonly TimelineOrderRow[],
): Promise<void> {
  const units = archived.reduce((sum, { quantity }) => sum + quantity, 0);
  const counting = session.run(
    `UPDATE activity SET sold_archived_orders = sold_archived_orders + ?, sold_archived_units = sold_archived_units + ?
     WHERE id = ? AND ${isForgotten}`,
    [archived.length, units, activityId],
  );
  const { affectedRows } = await orLocked(session, [activityId], counting);
  if (affectedRows !== 1) {
    throw new InvariantError(
      `activity ${activityId} was loaded into Redis again while its orders were archived`,
    );
  }
}

import { archiveLocked } from './archive-locked.ts';
import { idFromBytes, idToBytes, sortedIdBytes } from './binary-id.ts';
import { bisect } from './bisect.ts';
import type { Database } from './database.ts';
import type { RepositoryLog } from './order-repository.ts';
import type { ArchivedOrders, ArchiveOptions } from './retention.ts';
import type { Session } from './session.ts';
import { type TimelineOrderRow, timelineOrderColumns } from './timeline-rows.ts';
import { inTransaction, withRetriedSession } from './transaction.ts';

/**
 * Put one batch of ended orders in the archive and delete them with all rows of theirs, in one transaction: so an order
 * is always in exactly one of the two. By the index of deadlines, oldest first.
 *
 * What has anything open stays: a notice or event that is not delivered, an effect that is not done, a parked row, an
 * attempt that may still bring money, money that is not settled, an idempotency key that must still get its answer.
 *
 * Nothing is waited for: what others have locked is left to a later call, so any number of sweepers may run beside
 * everybody else. Idempotent. An order that MySQL refuses stays, is logged, and keeps nobody.
 */
export async function archiveOrders(
  database: Database,
  log: RepositoryLog,
  options: ArchiveOptions,
): Promise<ArchivedOrders> {
  const candidates = await selectOld(database, options);
  const last = candidates.at(-1);
  if (last === undefined) return { archived: 0, left: 0, isHeldUp: false, next: null };
  const { results, failures } = await bisect(
    candidates.map(({ id }) => idFromBytes(id)),
    (ids) => archiveBatch(database, ids, options),
  );
  for (const { id, error } of failures) log.error({ orderId: id, err: error }, 'an order cannot be archived');
  const archived = results.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const isHeldUp = results.includes(null);
  const isLast = candidates.length < options.limit;
  return {
    archived,
    left: candidates.length - archived,
    isHeldUp,
    next: isLast ? null : { expiresAt: last.expires_at, id: idFromBytes(last.id) },
  };
}

function selectOld(
  database: Database,
  { status, olderThanMs, limit, after }: ArchiveOptions,
): Promise<{ id: Buffer; expires_at: Date }[]> {
  const behind = after && 'AND expires_at >= ? AND (expires_at > ? OR id > ?)';
  return withRetriedSession(database, (session) =>
    session.rows(
      `SELECT id, expires_at FROM orders FORCE INDEX (orders_overdue)
       WHERE status = ? AND expires_at <= NOW(3) - INTERVAL ? MICROSECOND ${behind ?? ''}
       ORDER BY expires_at, id LIMIT ?`,
      [
        ...[status, olderThanMs * 1_000],
        ...(after ? [after.expiresAt, after.expiresAt, idToBytes(after.id)] : []),
        limit,
      ],
    ),
  );
}

function archiveBatch(
  database: Database,
  ids: readonly string[],
  options: ArchiveOptions,
): Promise<number | null> {
  return inTransaction(
    database,
    (session) => archiveOnce(session, sortedIdBytes(ids), options),
    // Not known to be done: the next call finds them again, or does not.
    () => null,
  );
}

/** @returns how many of them are archived now; null: old effects hold all of them up. */
async function archiveOnce(
  session: Session,
  ids: readonly Buffer[],
  { status, olderThanMs }: ArchiveOptions,
): Promise<number | null> {
  const orders = await session.rows<TimelineOrderRow>(
    `SELECT ${timelineOrderColumns} FROM orders FORCE INDEX (PRIMARY)
     WHERE id IN (?) AND status = ? AND closed_at <= NOW(3) - INTERVAL ? MICROSECOND AND idempotency_key IS NULL
     ORDER BY id FOR UPDATE SKIP LOCKED`,
    [ids, status, olderThanMs * 1_000],
  );
  return (await archiveLocked(session, orders, { olderThanMs }))?.length ?? null;
}

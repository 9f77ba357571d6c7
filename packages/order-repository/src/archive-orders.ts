import { encodeHistory } from './archive-history.ts';
import { idFromBytes, idToBytes, sortedIdBytes, unpackIds } from './binary-id.ts';
import { bisect } from './bisect.ts';
import type { Database } from './database.ts';
import { whyOpen } from './order-is-over.ts';
import type { RepositoryLog } from './order-repository.ts';
import type { ArchivedOrders, ArchiveOptions } from './retention.ts';
import type { Session } from './session.ts';
import {
  readTimelineRows,
  type TimelineOrderRow,
  type TimelineRows,
  timelineOrderColumns,
} from './timeline-rows.ts';
import { inTransaction, withRetriedSession } from './transaction.ts';

/** Effects of old commits that are still undone and are looked through; of more, none may be known to be nobody's. */
const oldEffectsMax = 1_000;
/** An order's effects are committed with its last step: so much later at most, whatever its transaction waited for. */
const effectSlackMs = 3_600_000;

/** What locks of others may keep from this transaction, though the lock of the order is its own. */
const lockedApart = ['notification', 'shop_event', 'payment_attempt', 'payment'] as const;

/**
 * Put one batch of ended orders in the archive and delete them with all rows of theirs, in one transaction: so an order
 * is always in exactly one of the two. By the index of deadlines, oldest first.
 *
 * What has anything open stays: a notice or event that is not delivered, an effect that is not done, a parked row, an
 * attempt that may still bring money, an idempotency key that must still get its answer. An order that money came for
 * stays as well: its payment rows are what recognises a repeat of the provider, and a refund that fails late.
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
  if (last === undefined) return { archived: 0, left: 0, next: null };
  const { results, failures } = await bisect(
    candidates.map(({ id }) => idFromBytes(id)),
    (ids) => archiveBatch(database, log, ids, options),
  );
  for (const { id, error } of failures) log.error({ orderId: id, err: error }, 'an order cannot be archived');
  const archived = results.reduce((sum, each) => sum + each, 0);
  const isLast = candidates.length < options.limit;
  return {
    archived,
    left: candidates.length - archived,
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
  log: RepositoryLog,
  ids: readonly string[],
  options: ArchiveOptions,
): Promise<number> {
  return inTransaction(
    database,
    (session) => archiveOnce(session, log, sortedIdBytes(ids), options),
    // Not known to be done: the next call finds them again, or does not.
    () => null,
  );
}

/** @returns how many of them are archived now. */
async function archiveOnce(
  session: Session,
  log: RepositoryLog,
  ids: readonly Buffer[],
  { status, olderThanMs }: ArchiveOptions,
): Promise<number> {
  const orders = await session.rows<TimelineOrderRow>(
    `SELECT ${timelineOrderColumns} FROM orders FORCE INDEX (PRIMARY)
     WHERE id IN (?) AND status = ? AND closed_at <= NOW(3) - INTERVAL ? MICROSECOND AND idempotency_key IS NULL
     ORDER BY id FOR UPDATE SKIP LOCKED`,
    [ids, status, olderThanMs * 1_000],
  );
  if (orders.length === 0) return 0;
  // Before the rows that effects become: what is in neither has none, and gets none while its order is locked.
  const owed = await readOwed(session, olderThanMs);
  if (owed === 'too many') {
    log.warn({ max: oldEffectsMax }, 'old effects are undone: no order is archived until they are seen to');
    return 0;
  }
  const parked = await readParkedOrders(session, orders);
  const rows = await readTimelineRows(session, orders, 'FOR UPDATE SKIP LOCKED');
  const counts = await countApart(session, orders);
  const over = rows.filter(
    (each) =>
      whyOpen(each, { owed, parked }) === null && rowsApart(each) === (counts.get(keyOf(each.order.id)) ?? 0),
  );
  if (over.length > 0) await moveToArchive(session, over);
  return over.length;
}

/** The orders that effects of old commits are still to be done for. */
async function readOwed(session: Session, olderThanMs: number): Promise<ReadonlySet<string> | 'too many'> {
  const effects = await session.rows<{ order_ids: Buffer }>(
    'SELECT order_ids FROM effect WHERE created_at <= NOW(3) - INTERVAL ? MICROSECOND LIMIT ?',
    [Math.max(0, olderThanMs - effectSlackMs) * 1_000, oldEffectsMax + 1],
  );
  if (effects.length > oldEffectsMax) return 'too many';
  return new Set(effects.flatMap(({ order_ids }) => unpackIds(order_ids)));
}

async function readParkedOrders(
  session: Session,
  orders: readonly TimelineOrderRow[],
): Promise<ReadonlySet<string>> {
  const rows = await session.rows<{ order_id: Buffer }>(
    "SELECT order_id FROM parked WHERE order_id IN (?) AND state = 'PARKED'",
    [orders.map(({ id }) => id)],
  );
  return new Set(rows.map(({ order_id }) => idFromBytes(order_id)));
}

/** How many rows each order has, whoever has locked them, in the tables that are locked apart. */
async function countApart(
  session: Session,
  orders: readonly TimelineOrderRow[],
): Promise<ReadonlyMap<string, number>> {
  const ids = orders.map(({ id }) => id);
  // Counted here: grouped by MySQL it took 50 ms a batch, not 5.
  const rows = await session.rows<{ order_id: Buffer }>(
    lockedApart.map((table) => `SELECT order_id FROM ${table} WHERE order_id IN (?)`).join(' UNION ALL '),
    lockedApart.map(() => ids),
  );
  const counts = new Map<string, number>();
  for (const { order_id } of rows) counts.set(keyOf(order_id), (counts.get(keyOf(order_id)) ?? 0) + 1);
  return counts;
}

function rowsApart({ notifications, shopEvents, attempts, payments }: TimelineRows): number {
  return notifications.length + shopEvents.length + attempts.length + payments.length;
}

function keyOf(id: Buffer): string {
  return id.toString('hex');
}

/** A hold that was fenced long after its order was archived has the order's own history already: that stays. */
async function moveToArchive(session: Session, over: readonly TimelineRows[]): Promise<void> {
  const [clock] = await session.rows<{ at: Date }>('SELECT NOW(3) AS at');
  await session.run(
    `INSERT INTO order_archive
       (order_id, activity_id, user_id, status, quantity, credit, debit, finished_at, archived_at, history)
     VALUES ? ON DUPLICATE KEY UPDATE order_id = order_archive.order_id`,
    [over.map((rows) => toValues(rows, clock?.at))],
  );
  const ids = over.map(({ order }) => order.id);
  for (const table of [...lockedApart, 'order_transition']) {
    await session.run(`DELETE FROM ${table} WHERE order_id IN (?)`, [ids]);
  }
  await session.run('DELETE FROM orders WHERE id IN (?)', [ids]);
}

function toValues(rows: TimelineRows, archivedAt: Date | undefined): readonly unknown[] {
  const { order, transitions } = rows;
  const credit = transitions.reduce((sum, each) => sum + each.credit, 0);
  const debit = transitions.reduce((sum, each) => sum + each.debit, 0);
  return [
    ...[order.id, order.activity_id, order.user_id, order.status, order.quantity, credit, debit],
    ...[order.closed_at, archivedAt, encodeHistory(rows)],
  ];
}

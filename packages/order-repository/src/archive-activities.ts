import type { Database } from './database.ts';
import type { ArchiveActivitiesOptions, ArchivedActivities } from './retention.ts';
import type { Session } from './session.ts';
import { inTransaction, withRetriedSession } from './transaction.ts';

/**
 * Its sale has begun, and is over: it has ended, an operator paused it and never went on, or every place is sold. The
 * last has no time of its own: the last order that is paid has one. A capacity of 0 is a sale that is stopped, not one
 * that is over. Times of the policy are bound three times.
 */
const isOver = `archived_at IS NULL
  AND GREATEST(created_at, COALESCE(sale_starts_at, created_at)) <= NOW(3) - INTERVAL ? MICROSECOND
  AND (sale_ends_at <= NOW(3) - INTERVAL ? MICROSECOND OR sale_paused_at <= NOW(3) - INTERVAL ? MICROSECOND
    OR available = 0 AND capacity > 0)`;

/** Activities that fail in one call. Then it ends: while MySQL is away each costs seconds. */
const failuresMax = 3;

/**
 * Archive activities whose sale is over for longer than the policy says: from then on nothing is sold in them, whatever
 * happens; lists, loads and audits leave them out; and Redis owes it to forget them. That is a matter of the next
 * steps: `stock_run_id` says that Redis still has one, until `noteStockForgotten`.
 *
 * In one transaction each, under the lock of the activity's row: with an order that is pending, or was paid since, with
 * a step that Redis is owed, or a finding that is not healed, it stays. A new generation makes MySQL refuse what was
 * held in Redis before and is written after; so an order that is being created needs no lock here. It is the next but
 * one: the next is what a load has that lost its transaction, and may still bring into Redis. What others have locked is
 * left to a later call. One that fails is told of, and the next call goes on behind it: an activity whose orders take
 * too long to look through must not keep all others here for ever. Idempotent.
 *
 * Reads the whole table of activities, and of each candidate its active orders: 0.1 s for 100,000. For one look a minute.
 */
export async function archiveActivities(
  database: Database,
  options: ArchiveActivitiesOptions,
): Promise<ArchivedActivities> {
  const { olderThanMs, limit, afterId } = options;
  const olderThanUs = olderThanMs * 1_000;
  const candidates = await withRetriedSession(database, (session) =>
    session.rows<{ id: number }>(`SELECT id FROM activity WHERE id > ? AND ${isOver} ORDER BY id LIMIT ?`, [
      ...[afterId, olderThanUs, olderThanUs, olderThanUs, limit],
    ]),
  );
  const archived: number[] = [];
  const failures: { activityId: number; error: unknown }[] = [];
  for (const { id } of candidates) {
    try {
      if (await archiveOne(database, id, olderThanUs)) archived.push(id);
    } catch (error) {
      failures.push({ activityId: id, error });
      if (failures.length === failuresMax) return { archived, failures, next: id };
    }
  }
  const next = candidates.length < limit ? null : (candidates.at(-1)?.id ?? null);
  return { archived, failures, next };
}

function archiveOne(database: Database, id: number, olderThanUs: number): Promise<boolean> {
  return inTransaction(
    database,
    (session) => archiveOnce(session, id, olderThanUs),
    (done) =>
      done ? { sql: 'SELECT 1 FROM activity WHERE id = ? AND archived_at IS NOT NULL', values: [id] } : null,
  );
}

async function archiveOnce(session: Session, id: number, olderThanUs: number): Promise<boolean> {
  const [locked] = await session.rows(
    `SELECT 1 FROM activity WHERE id = ? AND ${isOver} FOR UPDATE SKIP LOCKED`,
    [id, olderThanUs, olderThanUs, olderThanUs],
  );
  if (locked === undefined) return false;
  const open = await session.rows(
    `(SELECT 1 FROM orders FORCE INDEX (orders_active_user) WHERE activity_id = ? AND active_user IS NOT NULL
        AND (status = 'PENDING' OR paid_at > NOW(3) - INTERVAL ? MICROSECOND) LIMIT 1)
     UNION ALL (SELECT 1 FROM effect WHERE activity_id = ? LIMIT 1)
     UNION ALL (SELECT 1 FROM audit_finding WHERE activity_id = ? AND healed_at IS NULL LIMIT 1)`,
    [id, olderThanUs, id, id],
  );
  if (open.length > 0) return false;
  await session.run('UPDATE activity SET archived_at = NOW(3), generation = generation + 2 WHERE id = ?', [
    id,
  ]);
  return true;
}

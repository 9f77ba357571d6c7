import type { CloseCause, CloseResult, UnmovedOrders } from './batch-result.ts';
import { idList, sortedIds } from './binary-id.ts';
import { bisect } from './bisect.ts';
import type { BusyActivities } from './busy-activities.ts';
import { classifyUnmoved, type DueRule, mergeUnmoved, noneUnmoved, without } from './classify-unmoved.ts';
import {
  type ClosedBatch,
  type CloseManner,
  closeLocked,
  type DueRow,
  dueColumns,
  notSettling,
} from './close-batch.ts';
import type { Database } from './database.ts';
import type { RepositoryLog } from './order-repository.ts';
import { parkOrders } from './park-orders.ts';
import { readParkedIds } from './read-parked-ids.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';

/** Most ids of one call and transaction: from 2,000 on, larger batches cost the same per order. */
export const idsPerCallMax = 2_000;

type Part = ClosedBatch & { readonly unmoved: UnmovedOrders };

const closeRule: DueRule = { dueColumn: 'expires_at', isSettled: ({ status }) => status !== 'PENDING' };

/**
 * Close the given orders where still pending and due, in one transaction: status, transition rows, effects,
 * one stock credit per activity. "Due" is said by the database clock alone. Rows another worker holds are
 * skipped, not waited for, and come back as `contended`: they are unknown, not done. READ COMMITTED keeps
 * InnoDB from locking the gaps where new orders go in.
 *
 * Orders of an activity whose row others keep locked are `contended` too, and the rest of the batch closes.
 *
 * An order with an open payment attempt is left alone until the attempt is settled at the provider, or its grace has
 * passed: `settling`.
 *
 * Idempotent, and safe at any concurrency: an order is in `closed` of one call, ever. A deadlock repeats the
 * batch; any other failure bisects it, and the one order that fails alone is parked. Where many fail, a part of the
 * batch may be left for the next call: `contended`.
 */
export async function closeExpired(
  database: Database,
  log: RepositoryLog,
  busy: BusyActivities,
  ids: readonly string[],
  { cause }: { cause: CloseCause },
): Promise<CloseResult> {
  if (ids.length > idsPerCallMax)
    throw new RangeError(`${ids.length} ids in one call; at most ${idsPerCallMax}`);
  const sorted = sortedIds(ids);
  if (sorted.length === 0) return { ...mergeUnmoved([], []), closed: [], effects: [] };
  const { results, failures, untried } = await bisect(sorted, (part) =>
    busy.avoid(database, (locked) =>
      inTransaction<Part>(
        database,
        (session) => closePart(session, part, cause, locked),
        ({ witness }) => witness,
      ),
    ),
  );
  const closed = results.flatMap((part) => part.closed);
  const { parked, doubtful } = await parkOrders(database, log, 2, failures, {
    othersMoved: closed.length > 0,
    allTried: untried.length === 0,
  });
  return {
    ...mergeUnmoved(
      [...results.map(({ unmoved }) => unmoved), { ...noneUnmoved, contended: [...doubtful, ...untried] }],
      parked,
    ),
    closed,
    effects: results.flatMap((part) => part.effects),
  };
}

async function closePart(
  session: Session,
  ids: readonly string[],
  cause: CloseCause,
  locked: readonly number[],
): Promise<Part> {
  const manner: CloseManner = { toStatus: 'TIMEOUT_CLOSED', cause };
  const parkedIds = await readParkedIds(session, 2);
  const parked = parkedIds.size === 0 ? [] : ids.filter((id) => parkedIds.has(id));
  const wanted = parked.length === 0 ? ids : ids.filter((id) => !parkedIds.has(id));
  if (wanted.length === 0)
    return { ...(await closeLocked(session, [], manner)), unmoved: mergeUnmoved([], parked) };
  // Without the hint the optimizer read the index of deadlines: +40%.
  const rows = await session.rows<DueRow>(
    `SELECT ${dueColumns} FROM orders FORCE INDEX (PRIMARY)
     WHERE id IN (?) AND status = 'PENDING' AND expires_at <= NOW(3) AND ${notSettling}
     ${locked.length > 0 ? 'AND activity_id NOT IN (?)' : ''}
     ORDER BY id FOR UPDATE SKIP LOCKED`,
    [idList(wanted), ...(locked.length > 0 ? [locked] : [])],
  );
  const unmoved = await classifyUnmoved(session, without(wanted, rows), closeRule);
  return { ...(await closeLocked(session, rows, manner)), unmoved: mergeUnmoved([unmoved], parked) };
}

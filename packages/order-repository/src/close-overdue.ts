import type { CloseResult } from './batch-result.ts';
import { idFromBytes, idToBytes } from './binary-id.ts';
import type { BusyActivities } from './busy-activities.ts';
import { noneUnmoved } from './classify-unmoved.ts';
import { type ClosedBatch, closeLocked, type DueRow, dueColumns, notSettling } from './close-batch.ts';
import { closeExpired, idsPerCallMax } from './close-expired.ts';
import type { Database } from './database.ts';
import { CommitUnknownError, isUnavailable } from './errors.ts';
import type { RepositoryLog } from './order-repository.ts';
import { readParkedIds } from './read-parked-ids.ts';
import type { Session } from './session.ts';
import { inTransaction, withRetriedSession } from './transaction.ts';

export interface OverdueOptions {
  /** How long past its deadline an order must be: the time the message path has for itself. */
  readonly graceMs: number;
  readonly limit: number;
}

/**
 * Find orders long past their deadline by the index, and close them in the same transaction. Many replicas
 * may run it at once: each takes rows that nobody holds (SKIP LOCKED). Parked orders are passed over, so are those
 * of an activity whose row others keep locked, and those whose payment is being settled: the sweep after their grace
 * takes them.
 * @returns `found` rows taken; below `limit`, nothing that is free is left.
 */
export async function closeOverdue(
  database: Database,
  log: RepositoryLog,
  busy: BusyActivities,
  options: OverdueOptions,
): Promise<CloseResult & { found: number }> {
  const limit = Math.min(options.limit, idsPerCallMax);
  try {
    const { closed, effects } = await busy.avoid(database, (locked) =>
      inTransaction<ClosedBatch>(
        database,
        async (session) =>
          closeLocked(
            session,
            await selectOverdue<DueRow>(session, dueColumns, options.graceMs, limit, { lock: true, locked }),
            { toStatus: 'TIMEOUT_CLOSED', cause: 'sweep' },
          ),
        ({ witness }) => witness,
      ),
    );
    return { ...noneUnmoved, closed, effects, found: closed.length };
  } catch (error) {
    if (isUnavailable(error) || error instanceof CommitUnknownError) throw error;
    log.warn({ err: error }, 'a sweep failed as a whole: closing its orders in parts');
    const rows = await withRetriedSession(database, (session) =>
      selectOverdue<{ id: Buffer }>(session, 'id', options.graceMs, limit, { lock: false, locked: [] }),
    );
    const ids = rows.map(({ id }) => idFromBytes(id));
    return { ...(await closeExpired(database, log, busy, ids, { cause: 'sweep' })), found: ids.length };
  }
}

async function selectOverdue<Row>(
  session: Session,
  columns: string,
  graceMs: number,
  limit: number,
  { lock, locked }: { lock: boolean; locked: readonly number[] },
): Promise<Row[]> {
  const parked = [...(await readParkedIds(session, 2))].map(idToBytes);
  return session.rows<Row>(
    `SELECT ${columns} FROM orders FORCE INDEX (orders_overdue)
     WHERE status = 'PENDING' AND expires_at <= NOW(3) - INTERVAL ? MICROSECOND
       AND ${notSettling}
     ${parked.length > 0 ? 'AND id NOT IN (?)' : ''}
     ${locked.length > 0 ? 'AND activity_id NOT IN (?)' : ''}
     ORDER BY expires_at, id LIMIT ? ${lock ? 'FOR UPDATE SKIP LOCKED' : ''}`,
    [graceMs * 1_000, ...(parked.length > 0 ? [parked] : []), ...(locked.length > 0 ? [locked] : []), limit],
  );
}

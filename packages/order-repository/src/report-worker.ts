import type { WorkerReport, WorkerWish } from '@lapse/contracts';
import { idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { Session } from './session.ts';
import { withRetriedSession } from './transaction.ts';

/** A process that has not reported for so long is forgotten. */
const forgottenAfterMs = 3_600_000;
/** Most of them deleted in one call. */
const forgottenPerCallMax = 500;

/** How the one statement tells what is wanted; 0 would mean that there is no row. */
const wishes: readonly (WorkerWish | undefined)[] = [undefined, 'RUN', 'PAUSE'];

/**
 * Note what a process says of itself, and tell it what an operator wants of it: one round trip. The wish comes back in
 * the place of an insert's number, by LAST_INSERT_ID(x), which MySQL and MariaDB both take in an UPDATE; of the two
 * only MariaDB knows RETURNING.
 *
 * The first report of a process, and the first after its row was deleted, is two statements more. A report never
 * changes what is wanted of a process whose row is there.
 */
export function reportWorker(database: Database, report: WorkerReport): Promise<{ wanted: WorkerWish }> {
  return withRetriedSession(database, async (session) => {
    const known = await update(session, report);
    if (known) return { wanted: known };
    await insert(session, report);
    // Asked again, not taken from the report: another session of this process may have inserted it before.
    return { wanted: (await update(session, report)) ?? report.wanted };
  });
}

/** @returns what is wanted; undefined when there is no such row. */
async function update(
  session: Session,
  { id, state, heartbeatMs, figures }: WorkerReport,
): Promise<WorkerWish | undefined> {
  const { insertId } = await session.run(
    `UPDATE worker SET heartbeat_at = NOW(3), heartbeat_ms = ?, state = ?, figures = ?,
       pid = pid + 0 * LAST_INSERT_ID(IF(wanted = 'PAUSE', 2, 1))
     WHERE id = ?`,
    [heartbeatMs, state, JSON.stringify(figures), idToBytes(id)],
  );
  return wishes[insertId];
}

async function insert(session: Session, report: WorkerReport): Promise<void> {
  await session.run(
    `INSERT IGNORE INTO worker (id, kind, host, pid, version, started_at, heartbeat_at, heartbeat_ms, wanted, state,
       figures)
     VALUES (?, ?, ?, ?, ?, NOW(3) - INTERVAL ? MICROSECOND, NOW(3), ?, ?, ?, ?)`,
    [
      ...[idToBytes(report.id), report.kind, report.host, report.pid, report.version],
      ...[Math.round(report.uptimeMs * 1_000), report.heartbeatMs, report.wanted, report.state],
      JSON.stringify(report.figures),
    ],
  );
}

/**
 * Delete what was reported last more than an hour ago: so the table holds no more than an hour of starts. Any process
 * may, at any time. @returns how many.
 */
export function forgetDeadWorkers(database: Database): Promise<number> {
  return withRetriedSession(database, async (session) => {
    const { affectedRows } = await session.run(
      'DELETE FROM worker WHERE heartbeat_at < NOW(3) - INTERVAL ? MICROSECOND ORDER BY heartbeat_at LIMIT ?',
      [forgottenAfterMs * 1_000, forgottenPerCallMax],
    );
    return affectedRows;
  });
}

import { workersShownMax } from '@lapse/contracts';
import type { Database } from './database.ts';
import { withRetriedSession } from './transaction.ts';
import type { Worker } from './worker.ts';
import { toWorker, type WorkerRow, workerColumns } from './worker-row.ts';

/** All processes of the last hour, those that are alive first, then by kind and start; at most 500, those heard of last. */
export async function listWorkers(database: Database): Promise<Worker[]> {
  const rows = await withRetriedSession(database, (session) =>
    session.rows<WorkerRow>(`SELECT ${workerColumns} FROM worker ORDER BY heartbeat_at DESC LIMIT ?`, [
      workersShownMax,
    ]),
  );
  return rows.map(toWorker).sort(byLifeKindAndStart);
}

function byLifeKindAndStart(left: Worker, right: Worker): number {
  return (
    Number(right.alive) - Number(left.alive) ||
    left.kind.localeCompare(right.kind) ||
    left.startedAt.getTime() - right.startedAt.getTime()
  );
}

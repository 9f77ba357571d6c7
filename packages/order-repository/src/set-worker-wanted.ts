import type { WorkerWish } from '@lapse/contracts';
import { idToBytes } from './binary-id.ts';
import { changeUnlessDry } from './change-unless-dry.ts';
import type { Database } from './database.ts';
import type { Changed } from './operator-change.ts';
import type { OperatorResult, StoredAnswer } from './operator-result.ts';
import type { Session } from './session.ts';
import type { SettleOptions } from './settle-result.ts';
import type { DirectedWorker, WorkerRefusal } from './worker.ts';
import { toWorker, type WorkerRow, workerColumns } from './worker-row.ts';

/**
 * Say what a process is to do: it hears it with its next report. One that is not heard of may be told too, because it
 * may be back: a process that cannot reach MySQL goes on, and then does what is wanted. One that has stopped is not.
 */
export function setWorkerWanted(
  database: Database,
  id: string,
  wanted: WorkerWish,
  options: SettleOptions,
  answer: (result: DirectedWorker) => StoredAnswer,
): Promise<OperatorResult<DirectedWorker, WorkerRefusal>> {
  return changeUnlessDry(database, options, {
    change: (session, dryRun) => directOnce(session, idToBytes(id), wanted, dryRun),
    answer,
  });
}

async function directOnce(
  session: Session,
  id: Buffer,
  wanted: WorkerWish,
  dryRun: boolean,
): Promise<Changed<DirectedWorker, WorkerRefusal>> {
  const [row] = await session.rows<WorkerRow>(
    `SELECT ${workerColumns} FROM worker WHERE id = ? ${dryRun ? '' : 'FOR UPDATE'}`,
    [id],
  );
  if (row === undefined) return { kind: 'refused', result: { kind: 'not_found' } };
  const worker = toWorker(row);
  if (worker.state === 'STOPPED') return { kind: 'refused', result: { kind: 'stopped', worker } };
  const changes = worker.wanted !== wanted;
  if (dryRun || !changes) return { kind: 'done', result: { worker, changes }, actions: [] };
  await session.run('UPDATE worker SET wanted = ? WHERE id = ?', [wanted, id]);
  const { kind, host, pid, state } = worker;
  return {
    kind: 'done',
    result: { worker: { ...worker, wanted }, changes },
    actions: [
      {
        action: wanted === 'PAUSE' ? 'worker.pause' : 'worker.resume',
        targetKind: 'worker',
        target: worker.id,
        detail: { kind, host, pid, state },
      },
    ],
  };
}

import { workerFigures } from '@lapse/contracts';
import { idFromBytes } from './binary-id.ts';
import type { Worker } from './worker.ts';

/** Heartbeats that may be missed before a process counts as dead. */
const heartbeatsMissedMax = 3;

export const workerColumns = `id, kind, host, pid, version, started_at, heartbeat_at, wanted, state, figures,
  state <> 'STOPPED' AND heartbeat_at > NOW(3) - INTERVAL heartbeat_ms * ${heartbeatsMissedMax * 1_000} MICROSECOND
  AS is_alive`;

export interface WorkerRow {
  readonly id: Buffer;
  readonly kind: Worker['kind'];
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly started_at: Date;
  readonly heartbeat_at: Date;
  readonly wanted: Worker['wanted'];
  readonly state: Worker['state'];
  readonly figures: string;
  readonly is_alive: number;
}

export function toWorker(row: WorkerRow): Worker {
  return {
    id: idFromBytes(row.id),
    kind: row.kind,
    host: row.host,
    pid: row.pid,
    version: row.version,
    state: row.state,
    wanted: row.wanted,
    alive: row.is_alive === 1,
    startedAt: row.started_at,
    heartbeatAt: row.heartbeat_at,
    // A newer release may say more, which is left out, or something else, which must not hide the process.
    figures: workerFigures.safeParse(JSON.parse(row.figures)).data ?? {},
  };
}

import type { WorkerFigures, WorkerKind, WorkerState, WorkerWish } from '@lapse/contracts';

/** A process as MySQL knows it. */
export interface Worker {
  readonly id: string;
  readonly kind: WorkerKind;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** As of its last report. */
  readonly state: WorkerState;
  readonly wanted: WorkerWish;
  /** Reported within three heartbeats by the database clock, and has not stopped. */
  readonly alive: boolean;
  readonly startedAt: Date;
  readonly heartbeatAt: Date;
  readonly figures: WorkerFigures;
}

export interface DirectedWorker {
  readonly worker: Worker;
  /** False: it was wanted so already. Of a dry run: what would be. */
  readonly changes: boolean;
}

export type WorkerRefusal =
  | { readonly kind: 'not_found' }
  /** Nobody would hear it. */
  | { readonly kind: 'stopped'; readonly worker: Worker };

import type { SpawnPlan } from './spawn-owned.ts';

/** One program of a service, in the order of starting. Stopping goes the other way round. */
export interface ProgramPlan extends SpawnPlan {
  readonly ports: readonly number[];
  /** Before every start, the restarts included. */
  readonly prepare?: () => void;
  /** True once the program really answers. Called again and again; a throw counts as "not yet". */
  readonly ready: () => Promise<boolean>;
  readonly readyTimeoutMs: number;
  readonly stopGraceMs: number;
  /** What to try when it does not start. */
  readonly hint?: string;
}

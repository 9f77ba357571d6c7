import type { ApiClient } from '../api-client.ts';
import type { Ledger } from '../ledger.ts';
import type { SteadyLoad } from '../outages/steady-load.ts';
import type { World } from '../world.ts';

/** What a drill is played with: a sale that goes on, and what a person on call has at hand. */
export interface DrillParts {
  readonly world: World;
  readonly api: ApiClient;
  readonly ledger: Ledger;
  readonly load: SteadyLoad;
  readonly activityId: number;
  readonly backupAgeSeconds: number;
  readonly signal: AbortSignal;
  /** A line of what happens, with its second in the drill. */
  readonly say: (line: string) => void;
  /** Run `lapse` as a person would, and show what it answers. @returns its exit code. */
  readonly lapse: (...args: string[]) => Promise<number>;
}

/** Resolves once the disaster is over and mended as the runbook says; the rest is judged by oracle and ledger. */
export type Drill = (parts: DrillParts) => Promise<void>;

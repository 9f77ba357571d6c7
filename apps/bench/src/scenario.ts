import type { Outcome } from './result.ts';
import type { BenchServices } from './services.ts';

/** What a run gets. */
export interface RunOptions {
  readonly services: BenchServices;
  /** Of this run alone: logs of its processes. */
  readonly dir: string;
  readonly size: number;
  readonly signal: AbortSignal;
}

export interface Contender {
  readonly name: string;
  readonly about: string;
  /** Of a full run: in no more than so many of the scenario's rounds. For those that no goal is measured against. */
  readonly roundsMax?: number;
  /** Seconds that a run of this size takes, for the time left. */
  readonly seconds: (size: number) => number;
  readonly run: (options: RunOptions) => Promise<Outcome>;
}

/** Contenders that do the same work, side by side. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly size: { readonly full: number; readonly quick: number };
  /** Of a full run, where they are not three. */
  readonly rounds?: number;
  readonly contenders: readonly Contender[];
}

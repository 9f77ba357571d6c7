import type { WorkerFigures } from '@lapse/contracts';
import { createHistogram } from './create-histogram.ts';

/** Orders that the figure of a heartbeat is about: enough for one in a hundred to be ten. */
const recentMax = 1_000;

/**
 * In seconds. 1 s is the objective (99.9% of orders), 0.25 s what a change of processes may cost, 0.05 s the design's
 * p99 in steady load; 15 and 30 s are where the sweep takes over and where it must be done.
 */
const bucketsSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30, 120];

export interface LatenessMeter {
  observe(latenessMs: number): void;
  /** For a heartbeat: how late the last orders were; empty when there was none. */
  figures(): WorkerFigures;
}

/**
 * How late a worker handles its orders: as a histogram in seconds of all since its start, for the metrics, and of the
 * last 1,000, for whoever looks at the process now.
 */
export function createLatenessMeter(metric: { readonly name: string; readonly help: string }): LatenessMeter {
  const histogram = createHistogram({ ...metric, buckets: bucketsSeconds });
  const recent: number[] = [];
  let next = 0;
  return {
    observe: (latenessMs) => {
      histogram.observe(latenessMs / 1_000);
      recent[next] = latenessMs;
      next = (next + 1) % recentMax;
    },
    figures: () => {
      const sorted = recent.toSorted((left, right) => left - right);
      const p99 = sorted[Math.ceil(0.99 * sorted.length) - 1];
      return p99 === undefined ? {} : { latenessP99Ms: Math.max(0, Math.round(p99)) };
    },
  };
}

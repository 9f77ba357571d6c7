import type { WorkerFigures } from '@lapse/contracts';
import { Histogram } from './metrics.ts';

/** Orders that the figure of a heartbeat is about: enough for one in a hundred to be ten. */
const recentMax = 1_000;

export interface LatenessMeter {
  observe(latenessMs: number): void;
  /** For a heartbeat: how late the last orders were; empty when there was none. */
  figures(): WorkerFigures;
}

/**
 * How late a worker handles its orders: as a histogram of all since its start, for the metrics, and of the last 1,000,
 * for whoever looks at the process now.
 */
export function createLatenessMeter(metric: { readonly name: string; readonly help: string }): LatenessMeter {
  const histogram = new Histogram({ ...metric, buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000] });
  const recent: number[] = [];
  let next = 0;
  return {
    observe: (latenessMs) => {
      histogram.observe(latenessMs);
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

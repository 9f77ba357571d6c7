import { Counter, collectDefaultMetrics, Gauge, register } from 'prom-client';
import { appVersion } from './app-version.ts';

export { Counter, Gauge, Histogram } from 'prom-client';

/** The one registry of a process. Every `new Counter(…)` and so on goes here by itself. */
export const registry = register;

/**
 * Time between two looks at the event loop's lag, and the least that its figures say. The library's own 10 ms wake an
 * idle process a hundred times a second: 0.28% of a core, where this takes 0.08.
 */
const lagLookEveryMs = 50;

let collecting = false;

/** Metrics of Node itself: CPU, memory, event loop lag, garbage collection. Once, however often called. */
export function collectProcessMetrics(): void {
  if (collecting) return;
  collecting = true;
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lagLookEveryMs });
  // A counter, so that any number of scrapers may look: its rate is the share of time that the loop was busy.
  new Counter({
    name: 'lapse_event_loop_active_seconds_total',
    help: 'Time that the event loop was at work; its rate nears 1 when the process can do no more.',
    collect() {
      this.reset();
      this.inc(performance.eventLoopUtilization().active / 1_000);
    },
  });
}

/** Say which process this is, so that series of one scrape can be joined with it. */
export function showProcess(name: string): void {
  new Gauge({
    name: 'lapse_build_info',
    help: 'Always 1: which process this is, and of which version.',
    labelNames: ['process', 'version'] as const,
  }).set({ process: name, version: appVersion() }, 1);
}

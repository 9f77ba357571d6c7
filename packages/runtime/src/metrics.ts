import { collectDefaultMetrics, register } from 'prom-client';

export { Counter, Gauge, Histogram } from 'prom-client';

/** The one registry of a process. Every `new Counter(…)` and so on goes here by itself. */
export const registry = register;

let collecting = false;

/** Metrics of Node itself: CPU, memory, event loop lag, garbage collection. Once, however often called. */
export function collectProcessMetrics(): void {
  if (collecting) return;
  collecting = true;
  collectDefaultMetrics({ register: registry });
}

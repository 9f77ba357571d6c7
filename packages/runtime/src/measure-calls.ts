import { createHistogram } from './create-histogram.ts';
import { Counter } from './metrics.ts';

/** In seconds: a round trip to a store on the same network, up to its time limits. */
const bucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

const watcherFailures = new Counter({
  name: 'lapse_call_watcher_failures_total',
  help: 'Calls that succeeded and whose watcher threw: the metrics and traces lack what it would have told.',
});

export interface CallMeter<Class extends string> {
  /** A call of this class took so long. */
  observe(operation: Class, seconds: number, failed: boolean): void;
}

/**
 * How long calls of a store take, and how many fail, each by class of operation: `lapse_mysql_operation_seconds`. The
 * classes are a list with an end; a method's own name would be a series for each.
 */
export function createCallMeter<Class extends string>(
  store: 'mysql' | 'redis' | 'broker',
  classes: readonly Class[],
): CallMeter<Class> {
  const times = createHistogram({
    name: `lapse_${store}_operation_seconds`,
    help: 'Time of one operation with its retries, as its caller sees it, by class.',
    buckets: bucketsSeconds,
    label: { name: 'operation', values: classes },
  });
  const failures = new Counter({
    name: `lapse_${store}_operation_failures_total`,
    help: 'Operations that failed for good, by class.',
    labelNames: ['operation'] as const,
  });
  // There from the start: a rise from nothing to one is a rise only where the nothing was seen.
  for (const operation of classes) failures.inc({ operation }, 0);
  return {
    observe: (operation, seconds, failed) => {
      times.observe(seconds, operation);
      if (failed) failures.inc({ operation });
    },
  };
}

/** Names of methods that answer a promise. */
type AsyncMethod<T> = {
  [K in keyof T]: T[K] extends (...args: never[]) => Promise<unknown> ? K : never;
}[keyof T] &
  string;

type Answer<M> = M extends (...args: never[]) => Promise<infer R> ? R : never;

/** What is told of a call that succeeded, beside its time. */
export type Watchers<T> = {
  readonly [K in AsyncMethod<T>]?: (
    call: { readonly startedAtMs: number; readonly endedAtMs: number },
    result: Answer<T[K]>,
    ...args: T[K] extends (...args: infer A) => unknown ? A : never
  ) => void;
};

/**
 * The same port, its calls measured. The caller gets the very promise of the call: nothing waits for the measuring.
 * @param classes of each method that is measured; methods that are left out are not.
 * @param watchers hear of calls that succeeded, with times in milliseconds since 1970. One that throws is counted in
 * `lapse_call_watcher_failures_total`, and harms neither the call nor the process.
 */
export function measureCalls<T extends object, Class extends string>(
  port: T,
  meter: CallMeter<Class>,
  classes: Readonly<Partial<Record<AsyncMethod<T>, Class>>>,
  watchers: Watchers<T> = {},
): T {
  const measured: Record<string, unknown> = {};
  for (const [name, operation] of Object.entries(classes) as [AsyncMethod<T>, Class][]) {
    const method = port[name] as (...args: unknown[]) => Promise<unknown>;
    const watch = watchers[name] as ((...args: unknown[]) => void) | undefined;
    measured[name] = (...args: unknown[]): Promise<unknown> => {
      const startedAt = performance.now();
      const answer = method(...args);
      answer.then(
        (result) => {
          const endedAt = performance.now();
          meter.observe(operation, (endedAt - startedAt) / 1_000, false);
          const { timeOrigin } = performance;
          const call = { startedAtMs: timeOrigin + startedAt, endedAtMs: timeOrigin + endedAt };
          try {
            watch?.(call, result, ...args);
          } catch {
            watcherFailures.inc();
          }
        },
        () => meter.observe(operation, (performance.now() - startedAt) / 1_000, true),
      );
      return answer;
    };
  }
  return { ...port, ...measured };
}

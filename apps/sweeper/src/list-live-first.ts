import type { Activity, OrderRepository } from '@lapse/order-repository';
import { listAllActivities } from './list-all-activities.ts';

export interface LiveFirstOptions {
  /** Of so many runs one goes on to the activities that are over; the first does. */
  readonly runsPerWholeLook: number;
  /** How long a run may stay with those that are over. It takes one at least; the next run goes on after the last. */
  readonly overBudgetMs: number;
  /** Which of a page are wanted; all of them by default. */
  readonly select?: (page: readonly Activity[]) => Promise<readonly Activity[]>;
}

/**
 * Every live activity in each run, and those that are over once in a while, after the live ones and for a limited
 * time: however many they are, and however long each takes, a live one waits for its next look no longer than that
 * and one of them. Remembers between runs where it was; ends early when the signal aborts.
 */
export function listLiveFirst(
  orders: Pick<OrderRepository, 'listActivities'>,
  { runsPerWholeLook, overBudgetMs, select = async (page) => page }: LiveFirstOptions,
) {
  let runs = 0;
  /** Undefined while it is not their turn. */
  let overAfterId: number | undefined;
  return async function* listRun(signal: AbortSignal): AsyncGenerator<Activity> {
    if (runs % runsPerWholeLook === 0) overAfterId ??= 0;
    runs += 1;
    for await (const page of listAllActivities(orders, signal, { only: 'live', afterId: 0 })) {
      for (const activity of await select(page)) {
        if (signal.aborted) return;
        yield activity;
      }
    }
    if (overAfterId === undefined) return;
    const stopAtMs = performance.now() + overBudgetMs;
    for await (const page of listAllActivities(orders, signal, { only: 'over', afterId: overAfterId })) {
      for (const activity of await select(page)) {
        if (signal.aborted) return;
        yield activity;
        overAfterId = activity.id;
        if (performance.now() >= stopAtMs) return;
      }
    }
    if (!signal.aborted) overAfterId = undefined;
  };
}

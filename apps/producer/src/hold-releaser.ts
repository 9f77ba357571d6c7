import { backOffMs, type Closable, type Logger, sleep } from '@lapse/runtime';
import type { Stock } from '@lapse/stock';
import { holdsAbandoned } from './metrics.ts';

/** Most holds waiting for another try, or in one: an outage at 5,000 creates a second fills it in two seconds. */
const waitingMaxDefault = 10_000;
/** Tries after the first; with the back-off below they cover about 30 s of outage. */
const retriesMax = 12;
const backOff = { minMs: 100, maxMs: 5_000 };
/** In an outage holds are left behind by the thousand; the metric counts them, the log says that it happens. */
const abandonLogEveryMs = 10_000;

interface Hold {
  readonly activityId: number;
  readonly orderId: string;
}

export interface HoldReleaser extends Closable {
  /**
   * Give back a hold whose order was certainly not written. Resolves after the first try, whatever came of
   * it: what failed is tried again in the background. Never throws.
   */
  release(hold: Hold): Promise<void>;
  /** Holds that wait for another try, or are in one. */
  waiting(): number;
}

/**
 * Releases holds without an order. Idempotent per order id, and right also when the hold was never taken:
 * an unknown order is marked released, so that a late reserve is refused.
 *
 * What cannot be released in time (Redis away for long, the process killed) stays as an orphan hold: a place
 * that nobody can buy, never a place sold twice. The sweeper finds it, fences it in MySQL and gives it back.
 */
export function openHoldReleaser({
  stock,
  log,
  waitingMax = waitingMaxDefault,
}: {
  stock: Pick<Stock, 'release'>;
  log: Logger;
  waitingMax?: number;
}): HoldReleaser {
  let waiting: Hold[] = [];
  let trying: Hold[] = [];
  let retrying: Promise<void> | undefined;
  const closing = new AbortController();

  let loggedAt = Number.NEGATIVE_INFINITY;
  const abandon = (holds: readonly Hold[], why: string): void => {
    if (holds.length === 0) return;
    holdsAbandoned.inc(holds.length);
    if (performance.now() - loggedAt < abandonLogEveryMs) return;
    loggedAt = performance.now();
    log.error({ why, holds: holds.length, first: holds[0] }, 'holds left behind in Redis');
  };

  /** @returns the holds that Redis did not take. */
  const releaseAll = async (holds: readonly Hold[]): Promise<Hold[]> => {
    const failed: Hold[] = [];
    for (const [activityId, group] of groupByActivity(holds)) {
      try {
        // Not ready means that nothing is loaded: a rebuild reads MySQL, where this hold is not.
        await stock.release(
          activityId,
          group.map(({ orderId }) => orderId),
        );
      } catch {
        failed.push(...group);
      }
    }
    return failed;
  };

  const retry = async (): Promise<void> => {
    for (let attempt = 0; attempt < retriesMax && waiting.length > 0; attempt += 1) {
      await sleep(backOffMs(attempt, backOff), closing.signal);
      trying = waiting;
      waiting = [];
      const failed = await releaseAll(trying);
      if (failed.length < trying.length) attempt = 0;
      waiting = [...failed, ...waiting];
      trying = [];
      if (closing.signal.aborted) break;
    }
    abandon(waiting, 'Redis did not answer');
    waiting = [];
    retrying = undefined;
  };

  return {
    release: async (hold) => {
      const failed = await releaseAll([hold]);
      if (failed.length === 0) return;
      if (waiting.length + trying.length >= waitingMax) return abandon(failed, 'too many holds wait already');
      waiting.push(...failed);
      retrying ??= retry();
    },
    waiting: () => waiting.length + trying.length,
    close: async () => {
      closing.abort();
      await retrying;
    },
  };
}

function groupByActivity(holds: readonly Hold[]): Map<number, Hold[]> {
  const groups = new Map<number, Hold[]>();
  for (const hold of holds) {
    const group = groups.get(hold.activityId);
    if (group) group.push(hold);
    else groups.set(hold.activityId, [hold]);
  }
  return groups;
}

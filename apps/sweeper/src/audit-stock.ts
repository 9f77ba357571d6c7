import type { Activity, OrderRepository } from '@lapse/order-repository';
import { type Logger, sleep } from '@lapse/runtime';
import {
  confirmDrift,
  type Difference,
  type LookPorts,
  lookAtStock,
  type MendPorts,
  mendDrift,
} from '@lapse/stock-audit';
import { listAllActivities } from './list-all-activities.ts';
import { auditDifferences, auditEndedAt, stockLoads } from './metrics.ts';

export interface AuditStockParts {
  readonly orders: LookPorts['orders'] & MendPorts['orders'] & Pick<OrderRepository, 'listActivities'>;
  readonly stock: LookPorts['stock'] & MendPorts['stock'];
  readonly config: {
    /** Between the two looks. Longer than any effect needs that is not in the list of pending ones. */
    readonly auditSecondLookMs: number;
    /** A hold younger than this may still be written. */
    readonly orphansAfterMs: number;
    /** When a run stops looking; the next one goes on after the last activity. Live ones come first. */
    readonly auditBudgetMs: number;
    /** Every so many runs all orders are compared, also where the sums agree, and activities that are over too. */
    readonly auditEveryOrderRuns: number;
  };
  readonly log: Logger;
}

interface Suspect {
  readonly activity: Activity;
  readonly differences: readonly Difference[];
}

/** Activities that wait for their second look at once: bounds memory, and the rest has its turn in the next run. */
const suspectsMax = 200;

/**
 * Compare MySQL and Redis, activity by activity, and heal what has drifted. In a sale the two always differ by what is
 * under way, so one look proves nothing. What two looks find just the same, of an order whose version and hold have
 * not changed and of which no effect is pending, is drift: nobody is going to mend it.
 *
 * What is found is written down before it is touched, with what is to be done, and marked once it is healed. Safe
 * beside other auditors: every healing is idempotent, and a rebuild is done by one. An activity that fails does not
 * stop the others; the first error is thrown at the end.
 * @returns how many differences were healed.
 */
export function auditStock(parts: AuditStockParts) {
  let runs = 0;
  let liveAfterId = 0;
  /** Undefined while it is not the turn of those that are over. */
  let overAfterId: number | undefined;
  return async (signal: AbortSignal): Promise<number> => {
    const stopAtMs = performance.now() + parts.config.auditBudgetMs;
    const everyOrder = runs % parts.config.auditEveryOrderRuns === 0;
    const suspects: Suspect[] = [];
    const failures: unknown[] = [];
    const look = { stopAtMs, signal, suspects, failures };
    if (everyOrder) overAfterId ??= 0;
    liveAfterId = await findSuspects(parts, { ...look, only: 'live', afterId: liveAfterId, everyOrder });
    // A run that was cut short goes on as it began.
    if (liveAfterId === 0) runs += 1;
    if (liveAfterId === 0 && overAfterId !== undefined) {
      const over = { only: 'over', afterId: overAfterId, everyOrder: true } as const;
      overAfterId = (await findSuspects(parts, { ...look, ...over })) || undefined;
    }
    if (suspects.length > 0) await sleep(parts.config.auditSecondLookMs, signal);
    let healed = 0;
    for (const suspect of suspects) {
      if (signal.aborted) break;
      try {
        healed += await lookAgain(parts, suspect);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) {
      throw new Error('stock of at least one activity could not be audited', { cause: failures[0] });
    }
    auditEndedAt.setToCurrentTime();
    return healed;
  };
}

interface FirstLook {
  readonly only: 'live' | 'over';
  readonly afterId: number;
  readonly everyOrder: boolean;
  readonly stopAtMs: number;
  readonly signal: AbortSignal;
  /** Where activities that differ are put. */
  readonly suspects: Suspect[];
  readonly failures: unknown[];
}

/**
 * Looks at one activity at least, so that a pass comes to its end however long each look takes.
 * @returns the last activity looked at, to go on after it; 0 when all were looked at.
 */
async function findSuspects(
  parts: AuditStockParts,
  { only, afterId, everyOrder, stopAtMs, signal, suspects, failures }: FirstLook,
): Promise<number> {
  let lastId = afterId;
  for await (const page of listAllActivities(parts.orders, signal, { only, afterId })) {
    for (const activity of page) {
      if (signal.aborted) return lastId;
      try {
        const options = { youngMs: parts.config.orphansAfterMs, everyOrder };
        const look = await lookAtStock(parts, activity.id, options);
        if (look.kind === 'different') suspects.push({ activity, differences: look.differences });
      } catch (error) {
        failures.push(error);
      }
      lastId = activity.id;
      if (performance.now() >= stopAtMs || suspects.length >= suspectsMax) return lastId;
    }
  }
  return 0;
}

async function lookAgain(parts: AuditStockParts, { activity, differences }: Suspect): Promise<number> {
  const drift = await confirmDrift(parts, activity.id, differences, parts.config.orphansAfterMs);
  if (drift.length === 0) return 0;
  for (const { kind } of drift) auditDifferences.inc({ kind });
  const { rebuilt } = await mendDrift(parts, activity, drift);
  if (rebuilt) stockLoads.inc();
  return drift.length;
}

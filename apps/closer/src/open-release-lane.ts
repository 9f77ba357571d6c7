import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { StockEffect } from '@lapse/order-repository';
import { type Closable, createBatcher, type Logger, sleep } from '@lapse/runtime';
import { effectsLeft } from './metrics.ts';

/** Effects told to Redis in one go; one of them is up to 2,000 orders of one activity. */
const effectsPerBatchMax = 64;
/**
 * Effects that wait while Redis is slow: two full batches, each order of another activity. Beyond it they are left to
 * the sweeper, so memory is bounded.
 */
const effectsWaitingMax = 4_096;

/**
 * How long rows of effects that Redis has are gathered before they are deleted together: nobody waits for that, and the
 * sweeper looks at none that is younger than seconds.
 */
const gatherMs = 100;
const rowsWaitingMax = 20_000;

export interface ReleaseLane extends Closable {
  readonly release: (effects: readonly StockEffect[]) => void;
  /** Nothing waits here, and nothing is being done. */
  readonly isIdle: () => boolean;
}

/**
 * Brings Redis up to committed closes, beside the closing and never in its way: with Redis frozen for its
 * whole command timeout, the next orders still close at their own millisecond. One batch in flight, the
 * next gathers. Their rows are deleted a moment later, many at once. Nothing here is the only copy: a full lane, a failure
 * or a kill leaves the effect's row.
 */
export function openReleaseLane(parts: EffectPorts & { readonly log: Logger }): ReleaseLane {
  const deletes = createBatcher<string, void>({
    run: async (ids) => {
      await sleep(gatherMs);
      await parts.orders.markEffectsApplied(ids);
      return ids.map(() => undefined);
    },
    batchMax: effectsWaitingMax,
    queueMax: rowsWaitingMax,
  });
  const deleteSoon = async (ids: readonly string[]): Promise<void> => {
    const ends = await Promise.allSettled(ids.map((id) => deletes.submit(id)));
    const failures = ends.filter((end) => end.status === 'rejected');
    if (failures.length === 0) return;
    effectsLeft.inc(failures.length);
    parts.log.warn(
      { left: failures.length, err: failures[0]?.reason },
      'applied releases are left to the sweeper',
    );
  };
  const orders = {
    markEffectsApplied: (ids: readonly string[]): Promise<void> => {
      void deleteSoon(ids);
      return Promise.resolve();
    },
  };
  const lane = createBatcher<StockEffect, void>({
    name: 'release',
    run: async (effects) => {
      const { left } = await applyEffects({ ...parts, orders }, effects);
      if (left > 0) effectsLeft.inc(left);
      return effects.map(() => undefined);
    },
    batchMax: effectsPerBatchMax,
    queueMax: effectsWaitingMax,
  });
  const submitAll = async (effects: readonly StockEffect[]): Promise<void> => {
    const ends = await Promise.allSettled(effects.map((effect) => lane.submit(effect)));
    const failures = ends.filter((end) => end.status === 'rejected');
    if (failures.length === 0) return;
    effectsLeft.inc(failures.length);
    parts.log.warn({ left: failures.length, err: failures[0]?.reason }, 'stock releases left to the sweeper');
  };
  return {
    release: (effects) => void submitAll(effects),
    isIdle: () => lane.isIdle() && deletes.isIdle(),
    close: async () => {
      await lane.close();
      await deletes.close();
    },
  };
}

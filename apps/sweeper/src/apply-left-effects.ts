import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import { effectsReplayed } from './metrics.ts';

export interface ApplyLeftEffectsParts {
  readonly orders: Pick<OrderRepository, 'listPendingEffects' | 'markEffectsApplied'>;
  readonly stock: EffectPorts['stock'];
  readonly config: {
    /** Younger effects belong to the process that committed them. */
    readonly effectsAfterMs: number;
  };
  readonly log: Logger;
}

/** Effects read at once; one of them is up to 2,000 orders. */
const effectsPerBatchMax = 100;

/**
 * Tell Redis what a process committed and then could not tell it: it was killed between the two, or Redis
 * was away. Replaying is safe any number of times and from any number of sweepers, because releases and
 * confirms are idempotent per order. Goes on until nothing is left, and stops early where Redis takes
 * nothing: the next run tries again.
 * @returns how many effects were applied.
 */
export function applyLeftEffects({ orders, stock, config, log }: ApplyLeftEffectsParts) {
  return async (signal: AbortSignal): Promise<number> => {
    let total = 0;
    for (;;) {
      const effects = await orders.listPendingEffects({
        olderThanMs: config.effectsAfterMs,
        limit: effectsPerBatchMax,
      });
      if (effects.length === 0) break;
      const { applied, left } = await applyEffects({ stock, orders, log }, effects);
      total += applied;
      effectsReplayed.inc({ outcome: 'applied' }, applied);
      effectsReplayed.inc({ outcome: 'left' }, left);
      if (applied === 0 || effects.length < effectsPerBatchMax || signal.aborted) break;
    }
    if (total > 0) log.info({ effects: total }, 'applied stock effects that their process had left');
    return total;
  };
}

import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { OrderRepository } from '@lapse/order-repository';
import { type Closable, createBatcher, type Logger } from '@lapse/runtime';
import { closeLateness } from './metrics.ts';

export interface CloseLaneParts extends EffectPorts {
  readonly orders: Pick<OrderRepository, 'closeExpired' | 'markEffectsApplied'>;
  readonly log: Logger;
}

export interface CloseLane extends Closable {
  /**
   * Close the order if it may close now: by its grace alone where the provider has not decided, and then it is late as
   * what the sweep closes is, and counted like that. Neither waits nor throws.
   */
  readonly closeOrder: (orderId: string, isDecided: boolean) => void;
  /** Nothing waits here, and nothing is being done. */
  readonly isIdle: () => boolean;
}

const ordersPerBatchMax = 500;
const ordersWaitingMax = 5_000;

/**
 * Closes orders whose attempt has just been looked at, many at once, beside the talk with the provider. Nothing here is
 * the only way: what is not closed here is closed by its message, or by the sweep.
 */
export function openCloseLane(parts: CloseLaneParts): CloseLane {
  const close = async (ids: readonly string[], cause: 'settle' | 'sweep') => {
    const { closed, effects } = await parts.orders.closeExpired(ids, { cause });
    if (cause === 'sweep') for (const { latenessMs } of closed) closeLateness.observe(latenessMs);
    await applyEffects(parts, effects);
    return ids.map(() => undefined);
  };
  const limits = { batchMax: ordersPerBatchMax, queueMax: ordersWaitingMax };
  const decided = createBatcher<string, void>({
    name: 'close_settled',
    run: (ids) => close(ids, 'settle'),
    ...limits,
  });
  const undecided = createBatcher<string, void>({
    name: 'close_undecided',
    run: (ids) => close(ids, 'sweep'),
    ...limits,
  });
  const submit = async (orderId: string, isDecided: boolean): Promise<void> => {
    try {
      await (isDecided ? decided : undecided).submit(orderId);
    } catch (error) {
      parts.log.warn({ err: error, orderId }, 'a settled order is left to the closer and the sweep');
    }
  };
  return {
    closeOrder: (orderId, isDecided) => void submit(orderId, isDecided),
    isIdle: () => decided.isIdle() && undecided.isIdle(),
    close: async () => {
      await Promise.all([decided.close(), undecided.close()]);
    },
  };
}

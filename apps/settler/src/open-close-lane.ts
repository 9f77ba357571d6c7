import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { OrderRepository } from '@lapse/order-repository';
import { type Closable, createBatcher, type Logger } from '@lapse/runtime';

export interface CloseLaneParts extends EffectPorts {
  readonly orders: Pick<OrderRepository, 'closeExpired' | 'markEffectsApplied'>;
  readonly log: Logger;
}

export interface CloseLane extends Closable {
  /** Close the order if it may close now. Neither waits nor throws. */
  readonly closeOrder: (orderId: string) => void;
  /** Nothing waits here, and nothing is being done. */
  readonly isIdle: () => boolean;
}

const ordersPerBatchMax = 500;
const ordersWaitingMax = 5_000;

/**
 * Closes orders whose attempt has just been settled, many at once, beside the talk with the provider. Nothing here is
 * the only way: what is not closed here is closed by its message, or by the sweep.
 */
export function openCloseLane(parts: CloseLaneParts): CloseLane {
  const lane = createBatcher<string, void>({
    name: 'close_settled',
    run: async (ids) => {
      const { effects } = await parts.orders.closeExpired(ids, { cause: 'settle' });
      await applyEffects(parts, effects);
      return ids.map(() => undefined);
    },
    batchMax: ordersPerBatchMax,
    queueMax: ordersWaitingMax,
  });
  const submit = async (orderId: string): Promise<void> => {
    try {
      await lane.submit(orderId);
    } catch (error) {
      parts.log.warn({ err: error, orderId }, 'a settled order is left to the closer and the sweep');
    }
  };
  return {
    closeOrder: (orderId) => void submit(orderId),
    isIdle: lane.isIdle,
    close: () => lane.close(),
  };
}

import type { OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import { keysExpired } from './metrics.ts';

export interface ExpireKeysParts {
  readonly orders: Pick<OrderRepository, 'expireKeys'>;
  readonly log: Logger;
}

/** Orders looked at in one transaction: it holds their locks for some 10 ms. */
const ordersPerBatchMax = 500;
/** Batches of one run: 100,000 orders a minute, far more than are placed. */
const batchesMax = 200;

/**
 * Let go of idempotency keys older than 24 hours, batch by batch. A run that is cut short goes on at the next
 * turn, where it stopped.
 * @returns how many orders' keys may be used again.
 */
export function expireKeys({ orders, log }: ExpireKeysParts) {
  return async (signal: AbortSignal): Promise<number> => {
    let total = 0;
    for (let batch = 0; batch < batchesMax && !signal.aborted; batch += 1) {
      const expired = await orders.expireKeys({ limit: ordersPerBatchMax });
      total += expired.orders;
      keysExpired.inc(expired.orders + expired.answers);
      if (expired.drained) break;
    }
    if (total > 0) log.debug({ orders: total }, 'idempotency keys older than a day were let go');
    return total;
  };
}

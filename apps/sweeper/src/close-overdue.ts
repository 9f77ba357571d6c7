import { applyEffects, type EffectPorts, logIdsOnce } from '@lapse/order-flow';
import type { OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import { closeLateness, ordersParked, ordersSwept } from './metrics.ts';

export interface CloseOverdueParts {
  readonly orders: Pick<OrderRepository, 'closeOverdue' | 'markEffectsApplied'>;
  readonly stock: EffectPorts['stock'];
  readonly config: {
    /** How long past its deadline an order is left to its message. */
    readonly graceMs: number;
    readonly batchMax: number;
    /** When a sweep stops, drained or not: the next one goes on. */
    readonly budgetMs: number;
  };
  readonly log: Logger;
}

export interface SweepCounts {
  readonly closed: number;
  readonly parked: number;
  readonly batches: number;
  /** False when the budget or a stop ended it, and orders may be left. */
  readonly drained: boolean;
}

/**
 * Close what messages missed: pending orders past their deadline and grace, batch after batch until none
 * is left or the budget is spent. Needs MySQL alone, so that it works with the broker and Redis dead.
 *
 * Redis is told while the next batch is being closed, one call after the other; what it does not take
 * stays durable. Any number of sweepers and closers may run at once: a row that another one holds is
 * skipped and is that one's to close. An order that cannot be closed is parked by the repository, logged
 * at error once, and the rest go on.
 */
export function closeOverdue({ orders, stock, config, log }: CloseOverdueParts) {
  const logParked = logIdsOnce(
    log.error.bind(log),
    'orders cannot be closed and are parked: see their reason in the table "parked"',
  );
  return async (signal: AbortSignal): Promise<SweepCounts> => {
    const stopAtMs = performance.now() + config.budgetMs;
    const counts = { closed: 0, parked: 0, batches: 0, drained: false };
    let moved = false;
    let telling: Promise<unknown> = Promise.resolve();
    do {
      const result = await orders.closeOverdue({ graceMs: config.graceMs, limit: config.batchMax });
      counts.batches += 1;
      counts.closed += result.closed.length;
      counts.parked += result.parked.length;
      for (const { latenessMs } of result.closed) closeLateness.observe(latenessMs);
      ordersSwept.inc(result.closed.length);
      ordersParked.inc(logParked(result.parked));
      telling = telling.then(() => applyEffects({ stock, orders, log }, result.effects));
      counts.drained = result.found < config.batchMax;
      // A batch that moved nothing met only locked rows: the next run asks again, not this one at once.
      moved = result.closed.length + result.parked.length > 0;
    } while (moved && !counts.drained && !signal.aborted && performance.now() < stopAtMs);
    await telling;
    if (counts.closed + counts.parked > 0) log.info(counts, 'swept orders that no message closed');
    return counts;
  };
}

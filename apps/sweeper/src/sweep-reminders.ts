import { logIdsOnce } from '@lapse/order-flow';
import type { OrderRepository, ReminderCursor } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import { ordersParked, remindersSwept } from './metrics.ts';

export interface SweepRemindersParts {
  readonly orders: Pick<OrderRepository, 'sweepReminders'>;
  readonly config: {
    /** How long past its reminder an order is left to its message. */
    readonly remindGraceMs: number;
    /** When a sweep stops, done or not: the next one goes on. */
    readonly budgetMs: number;
  };
  readonly log: Logger;
}

/**
 * Remind buyers whose message was lost. Needs MySQL alone: the notice is a row that the reminder delivers,
 * the closing message a row that is sent once the broker is there; and the close needs neither. At rest it
 * reads one empty range of an index.
 * @returns how many orders were reminded.
 */
export function sweepReminders({ orders, config, log }: SweepRemindersParts) {
  const logParked = logIdsOnce(
    log.error.bind(log),
    'orders cannot be reminded and are parked: see their reason in the table "parked"',
  );
  return async (signal: AbortSignal): Promise<number> => {
    const stopAtMs = performance.now() + config.budgetMs;
    let total = 0;
    let after: ReminderCursor | null = null;
    do {
      const sweep = await orders.sweepReminders({ graceMs: config.remindGraceMs, after });
      total += sweep.reminded;
      remindersSwept.inc(sweep.reminded);
      ordersParked.inc(logParked(sweep.parked));
      after = sweep.next;
    } while (after !== null && !signal.aborted && performance.now() < stopAtMs);
    if (total > 0) log.info({ reminded: total }, 'reminded orders whose message did not come');
    return total;
  };
}

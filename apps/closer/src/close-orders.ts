import type { DueOrder } from '@lapse/messaging';
import { countOutcomes, logIdsOnce, type RetryLater, retryLater } from '@lapse/order-flow';
import type { CloseResult, OrderRepository, StockEffect } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import { closeLateness, ordersHandled } from './metrics.ts';

export interface CloseOrdersParts {
  readonly orders: Pick<OrderRepository, 'closeExpired'>;
  /** Takes effects that are already durable in MySQL; must neither wait nor throw. */
  readonly releaseStock: (effects: readonly StockEffect[]) => void;
  readonly log: Logger;
}

/**
 * The decision of phase 2: close the orders that are due and still unpaid.
 *
 * It resolves once MySQL has committed, so that a message is acknowledged after that and never before; a
 * failure rejects and the same orders come again. Redis is told afterwards and nobody waits for it: what
 * it is owed is a row of the same transaction, which the sweeper applies if this process does not.
 *
 * Idempotent and safe beside any number of other closers and sweepers: the database decides by its own
 * clock and status, so an order closes at most once and never early, whatever was delivered when.
 * @returns the orders to look at again: those not due yet, and those whose row another worker holds.
 */
export function closeOrders({ orders, releaseStock, log }: CloseOrdersParts) {
  const logUnknown = logIdsOnce(log.warn.bind(log), 'message names orders that do not exist; skipped');
  const logParked = logIdsOnce(
    log.error.bind(log),
    'orders cannot be closed and are parked: see their reason in the table "parked"',
  );
  return async (due: readonly DueOrder[]): Promise<{ retry: RetryLater[] }> => {
    const result = await orders.closeExpired(
      due.map(({ orderId }) => orderId),
      { cause: 'message' },
    );
    releaseStock(result.effects);
    observe(result);
    logUnknown(result.unknown);
    logParked(result.parked);
    return { retry: retryLater(result) };
  };
}

function observe(result: CloseResult): void {
  for (const { latenessMs } of result.closed) closeLateness.observe(latenessMs);
  countOutcomes({ closed: result.closed.length }, result, (outcome, count) =>
    ordersHandled.inc({ outcome }, count),
  );
}

import type { DueOrder, Relay } from '@lapse/messaging';
import { countOutcomes, logIdsOnce, type RetryLater, retryLater } from '@lapse/order-flow';
import type { OrderRepository, RemindResult } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import { ordersHandled, remindLateness } from './metrics.ts';

export interface RemindBuyersParts {
  readonly orders: Pick<OrderRepository, 'remindPending'>;
  readonly relay: Pick<Relay, 'add'>;
  /** Called when notices wait to be delivered; must not wait for their delivery. */
  readonly noticesWait: () => void;
  readonly log: Logger;
}

/**
 * The decision of phase 1: claim the reminder of orders that are still pending.
 *
 * It resolves once one transaction has committed the claim, the notice and the phase-2 outbox row, so that
 * a message is acknowledged after that and never before. The closing message then goes out through the
 * relay; if this process dies first, the sweeper sends it from the same row. Notices are delivered by
 * another loop: a slow receiver never delays a reminder, and never a close.
 *
 * Idempotent: an order already reminded, paid, cancelled or closed is settled and nothing happens.
 * @returns the orders to look at again: those not due yet, and those whose row another worker holds.
 */
export function remindBuyers({ orders, relay, noticesWait, log }: RemindBuyersParts) {
  const logUnknown = logIdsOnce(log.warn.bind(log), 'message names orders that do not exist; skipped');
  const logParked = logIdsOnce(
    log.error.bind(log),
    'orders cannot be reminded and are parked: see their reason in the table "parked"',
  );
  return async (due: readonly DueOrder[]): Promise<{ retry: RetryLater[] }> => {
    const result = await orders.remindPending(due.map(({ orderId }) => orderId));
    if (result.outbox) relay.add(result.outbox);
    if (result.reminded.length > 0) noticesWait();
    observe(result);
    logUnknown(result.unknown);
    logParked(result.parked);
    return { retry: retryLater(result) };
  };
}

function observe(result: RemindResult): void {
  for (const { latenessMs } of result.reminded) remindLateness.observe(latenessMs);
  countOutcomes({ reminded: result.reminded.length }, result, (outcome, count) =>
    ordersHandled.inc({ outcome }, count),
  );
}

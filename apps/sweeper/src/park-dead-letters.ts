import type { DeadLetterDrain } from '@lapse/messaging';
import type { OrderRepository } from '@lapse/order-repository';

export interface ParkDeadLettersParts {
  readonly orders: Pick<OrderRepository, 'ping'>;
  readonly drain: DeadLetterDrain['drain'];
}

/**
 * Move what the broker gave up on into the table "parked", where an operator sees it and can redrive it.
 *
 * Their orders do not wait for that: one that is pending past its deadline closes by `close-overdue`, one that
 * was not reminded is reminded by `sweep-reminders`, both from MySQL and long before a message has used up its
 * deliveries. A parked order is the exception: it is in the same table, with its own reason.
 *
 * MySQL is asked first, so that no dead letter is taken out of the broker while it could not be kept.
 * @returns how many were parked.
 */
export function parkDeadLetters({ orders, drain }: ParkDeadLettersParts) {
  return async (signal: AbortSignal): Promise<number> => {
    await orders.ping();
    return drain(signal);
  };
}

import type { OrderStatus } from '@lapse/contracts';
import { idFromBytes } from './binary-id.ts';
import type { PaymentState } from './payment.ts';
import { isUndecided } from './payment-attempt.ts';
import type { TimelineRows } from './timeline-rows.ts';

/** What an order may still be named by, beside its own rows. */
export interface Debts {
  /** Orders that an effect is still to be done for. */
  readonly owed: ReadonlySet<string>;
  /** Orders that were set aside and wait for a person. */
  readonly parked: ReadonlySet<string>;
}

/** Why an order that has ended is not over yet. */
export type OpenReason = 'effect' | 'parked' | 'notice' | 'shop_event' | 'attempt' | 'money';

/**
 * What keeps an ended order from the archive; null: nothing is open, and nothing can come of it any more but what would
 * come of an order that never was.
 */
export function whyOpen(
  { order, notifications, shopEvents, attempts, payments }: TimelineRows,
  { owed, parked }: Debts,
): OpenReason | null {
  const id = idFromBytes(order.id);
  if (owed.has(id)) return 'effect';
  if (parked.has(id)) return 'parked';
  if (notifications.some(({ state }) => state === 'WAITING' || state === 'PARKED')) return 'notice';
  if (shopEvents.some(({ state }) => state !== 'SENT')) return 'shop_event';
  if (attempts.some(isUndecided)) return 'attempt';
  if (!isSettled(order.status, payments)) return 'money';
  const known = payments.filter(({ state }) => state !== 'FAILED').length;
  // Money was taken, and its event has not come.
  if (attempts.filter(({ state }) => state === 'CAPTURED').length > known) return 'attempt';
  return null;
}

/** Went back, or there was none. */
const isOver: ReadonlySet<PaymentState> = new Set(['REFUNDED', 'DISMISSED', 'FAILED']);

/** A paid order keeps the money of one payment, every other order of none. What waits, is owed or is in quarantine is open. */
function isSettled(status: OrderStatus, payments: TimelineRows['payments']): boolean {
  const rest = payments.filter(({ state }) => !isOver.has(state)).map(({ state }) => state);
  return status === 'PAID' ? rest.length === 1 && rest[0] === 'CAPTURED' : rest.length === 0;
}

import { idFromBytes } from './binary-id.ts';
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
  // CAPTURED: money was taken, whether its event has come or not.
  if (attempts.some(({ state }) => state !== 'CANCELLED' && state !== 'FAILED')) return 'attempt';
  if (payments.some(({ state }) => state !== 'FAILED')) return 'money';
  return null;
}

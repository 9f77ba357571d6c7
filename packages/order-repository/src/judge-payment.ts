import type { Order } from './order.ts';
import type { PaymentEvent, PaymentState } from './payment.ts';

/** What an event means for the order as it is under its lock. */
export interface Verdict {
  /**
   * `late`: the activity's policy decides; until it has, the payment is one that must go back. `returned`: it has gone
   * back, and there is nothing to do.
   */
  readonly kind: 'pay' | 'late' | 'refund' | 'returned' | 'quarantine' | 'ignore';
  /** Of the payment's row. */
  readonly state: PaymentState;
  readonly reason: string | null;
}

/**
 * Decide by the order's status alone, never by the time of the event: an older event that comes late finds the order
 * as a newer one has left it, and cannot take that back. So `failed` changes nothing whenever it comes, and a second
 * capture of a paid order goes back. An order that is past its deadline and not closed yet may still be paid: its
 * places are still its own.
 */
export function judgePayment(order: Order, event: PaymentEvent): Verdict {
  if (event.type === 'payment.failed') return { kind: 'ignore', state: 'FAILED', reason: null };
  const returned = judgeReturned(event);
  if (returned) return returned;
  // Never sold, so there is no price to compare with.
  if (order.status === 'ABORTED') return refund('the order was never sold');
  if (event.amountMinor !== order.amountMinor || event.currency !== order.currency) {
    const reason = `the order is for ${order.amountMinor} ${order.currency}`;
    return { kind: 'quarantine', state: 'QUARANTINED', reason };
  }
  switch (order.status) {
    case 'PENDING':
      return { kind: 'pay', state: 'CAPTURED', reason: null };
    case 'TIMEOUT_CLOSED':
      return { ...refund('the order had closed'), kind: 'late' };
    case 'PAID':
      return refund('the order was paid already');
    // Ended by a person's will: a place taken again would be against it.
    case 'CANCELLED':
      return refund('the order had been cancelled');
  }
}

/**
 * Whatever the order is or was: money that is with its buyer again pays nothing, and is not owed once more. Of a part
 * that went back nobody but a person knows what was meant by it.
 * @returns undefined when all of the money is there.
 */
export function judgeReturned({ type, amountMinor, returned }: PaymentEvent): Verdict | undefined {
  if (!returned || type === 'payment.failed') return undefined;
  if (returned.amountMinor >= amountMinor) {
    return { kind: 'returned', state: 'REFUNDED', reason: 'its money had gone back before' };
  }
  const reason = `${returned.amountMinor} of its ${amountMinor} had gone back before`;
  return { kind: 'quarantine', state: 'QUARANTINED', reason };
}

function refund(reason: string): Verdict {
  return { kind: 'refund', state: 'REFUND_PENDING', reason };
}

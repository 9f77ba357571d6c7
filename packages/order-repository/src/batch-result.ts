import type { OutboxRow, TransitionCause } from '@lapse/contracts';
import type { StockEffect } from './stock-effect.ts';

/** What became of the ids of a batch that were not moved. Every id of the input is in exactly one list. */
export interface UnmovedOrders {
  /** Still pending, and not due by the database clock: its time moved, or somebody came early. */
  readonly notDue: readonly { readonly orderId: string; readonly dueInMs: number }[];
  /**
   * Due, and being paid: an attempt at the provider is not settled yet, and the order waits for it at most so long.
   * Never in a result of reminders. `lateMs` is since the deadline.
   */
  readonly settling: readonly SettlingOrder[];
  /** Locked by another transaction just now, due only just now, or left by a batch in which many failed: ask again soon. */
  readonly contended: readonly string[];
  /** Done before, here or elsewhere: nothing is left to do. */
  readonly settled: readonly string[];
  /** No such order. */
  readonly unknown: readonly string[];
  /** Set aside, now or earlier, because it alone makes its transaction fail. An operator looks at it. */
  readonly parked: readonly string[];
}

export interface SettlingOrder {
  readonly orderId: string;
  /** Until it closes whatever the provider says. */
  readonly dueInMs: number;
  readonly lateMs: number;
}

/**
 * Who closes: the worker of a timeout message, the sweep, or the settler once a payment came to nothing. What it closes
 * because a grace is over says `sweep`: it is late like that.
 */
export type CloseCause = Extract<TransitionCause, 'message' | 'settle' | 'sweep'>;

export interface ClosedOrder {
  readonly orderId: string;
  readonly activityId: number;
  readonly quantity: number;
  /** Milliseconds from its deadline to its close, by the database clock. */
  readonly latenessMs: number;
}

export interface CloseResult extends UnmovedOrders {
  readonly closed: readonly ClosedOrder[];
  /** Stock to release in Redis now; what is not applied now is found again by `listPendingEffects`. */
  readonly effects: readonly StockEffect[];
}

export interface RemindedOrder {
  readonly orderId: string;
  readonly activityId: number;
  readonly userId: string;
  /** Its deadline, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** Milliseconds from its reminder time to now, by the database clock. */
  readonly latenessMs: number;
}

export interface RemindResult extends UnmovedOrders {
  readonly reminded: readonly RemindedOrder[];
  /** The phase 2 row of the reminded orders, to send at once. If nobody sends it, the sweeper does. */
  readonly outbox: OutboxRow | null;
}

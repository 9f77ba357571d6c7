import type { OrderStatus, WorkerFigures, WorkerKind, WorkerState, WorkerWish } from '@lapse/contracts';

/**
 * What the live views send: always a whole state, never a change, so that whoever missed some is right again with the
 * next. Times are ISO 8601 in UTC. The page imports these types and no code.
 */

export interface SaleState {
  readonly id: number;
  readonly name: string;
  readonly capacity: number;
  /** Places left. */
  readonly available: number;
  readonly priceMinor: number;
  readonly currency: string;
  readonly phase: 'soon' | 'open' | 'paused' | 'sold_out' | 'ended';
  readonly opensAt: string | null;
  readonly endsAt: string | null;
  readonly payWithinMs: number;
  /**
   * Of a sale that is sold out: the next deadline of a pending order, when places come back unless it is paid. Null:
   * no order is pending, so none will. Unknown: its deadlines lie behind those that were read.
   */
  readonly returns: { readonly at: string; readonly places: number } | 'unknown' | null;
}

export interface SalesState {
  /** The newest first. */
  readonly sales: readonly SaleState[];
}

export interface OrderState {
  readonly id: string;
  readonly activityId: number;
  readonly activityName: string;
  readonly quantity: number;
  readonly amountMinor: number;
  readonly currency: string;
  readonly status: OrderStatus;
  readonly createdAt: string;
  readonly remindAt: string;
  readonly expiresAt: string;
  readonly remindedAt: string | null;
  readonly paidAt: string | null;
  readonly closedAt: string | null;
  readonly isBeingPaid: boolean;
  readonly refund: 'REFUND_PENDING' | 'REFUNDED' | 'REFUND_FAILED' | 'QUARANTINED' | 'DISMISSED' | null;
}

/** Places of an activity in one store. */
export interface Places {
  readonly free: number;
  readonly held: number;
  readonly sold: number;
}

export interface ActivityState {
  readonly id: number;
  readonly name: string;
  readonly capacity: number;
  readonly mysql: Places;
  /** Null: Redis is away, or has not loaded it. */
  readonly redis: Places | null;
  /** An operator has new orders refused. */
  readonly paused: boolean;
  /** Two looks, one after the other, found the same difference. */
  readonly drift: boolean;
}

export interface OperationsState {
  readonly activities: readonly ActivityState[];
  /** Orders whose deadline is still to come, or was within the last hour. */
  readonly orders: OrderCounts;
  /** Of pending orders, by minutes from now: 20 numbers. The first holds what is overdue as well. */
  readonly due: readonly number[];
  /** Of the orders that closed within the last five minutes; null: none did. */
  readonly lateness: Lateness | null;
  readonly outbox: Queue;
  readonly effects: Queue;
  readonly parked: { readonly orders: number; readonly messages: number; readonly deadLetters: number };
  readonly notices: { readonly failing: number; readonly givenUp: number };
  readonly refunds: {
    readonly waiting: number;
    readonly oldestMs: number;
    readonly failed: number;
    readonly quarantined: number;
  };
  readonly findings: readonly FindingState[];
  /** Of the last hour, the living first. */
  readonly workers: readonly WorkerStatus[];
}

/** A process as it last said of itself. */
export interface WorkerStatus {
  readonly id: string;
  readonly kind: WorkerKind;
  readonly host: string;
  readonly pid: number;
  /** Of the release that it runs. */
  readonly version: string;
  readonly state: WorkerState;
  readonly wanted: WorkerWish;
  readonly alive: boolean;
  readonly figures: WorkerFigures;
}

export interface OrderCounts {
  readonly pending: number;
  readonly paid: number;
  readonly closed: number;
  readonly cancelled: number;
}

export interface Lateness {
  readonly orders: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

export interface Queue {
  readonly rows: number;
  readonly oldestMs: number;
}

export interface FindingState {
  readonly id: string;
  readonly at: string;
  readonly activityId: number | null;
  readonly kind: string;
  readonly action: string;
  readonly healedAt: string | null;
}

/** One point of the orders' history: seconds since 1970, and counts. */
export interface HistoryPoint extends OrderCounts {
  readonly at: number;
}

/** Who looks at the page. */
export interface SessionView {
  readonly kind: 'none' | 'guest' | 'buyer' | 'operator';
  readonly userId: string | null;
}

export interface OrderRow {
  readonly id: string;
  readonly userId: string;
  readonly activityId: number;
  readonly quantity: number;
  readonly status: OrderStatus;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly paidAt: string | null;
  readonly closedAt: string | null;
}

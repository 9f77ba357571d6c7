import type { OrderStatus } from '@lapse/contracts';
import type { Activity } from './activity.ts';
import type { ActivityCounts } from './audit.ts';
import type { EffectKind } from './effect-kind.ts';
import type { Finding } from './finding.ts';
import type { PaymentBacklog, RefundState } from './payment.ts';
import type { Worker } from './worker.ts';

/** An order as somebody watches it: all that its page shows, refunds among it. */
export interface WatchedOrder {
  readonly id: string;
  readonly userId: string;
  readonly activityId: number;
  readonly activityName: string;
  readonly quantity: number;
  readonly amountMinor: number;
  readonly currency: string;
  readonly status: OrderStatus;
  readonly createdAt: Date;
  readonly remindAt: Date;
  readonly expiresAt: Date;
  readonly remindedAt: Date | null;
  readonly paidAt: Date | null;
  readonly closedAt: Date | null;
  /** An attempt to pay is open at the provider, or its answer is awaited. */
  readonly isBeingPaid: boolean;
  /** State of the newest payment that was not kept; null: none came, or it was kept. */
  readonly refund: RefundState | null;
}

/** Deadlines ahead, the next first. */
export interface DueDeadlines {
  readonly deadlines: readonly DueDeadline[];
  /** There are more than were read: of an activity that is not among them nothing is known. */
  readonly cut: boolean;
}
export interface DueDeadline {
  readonly activityId: number;
  readonly expiresAt: Date;
  readonly quantity: number;
}

/** Orders whose deadline lies in one minute, counted from now; minute 0 holds what is overdue as well. */
export interface DueMinute {
  readonly minute: number;
  readonly orders: number;
}

/** How much of something waits, and since when its oldest has. */
interface Waiting {
  readonly rows: number;
  readonly oldestMs: number;
}

/** What waits in the queues of MySQL. Ages in milliseconds by the database clock, 0 when nothing waits. */
export interface WorkToDo {
  readonly outbox: Waiting;
  readonly effects: Waiting & { readonly byKind: Readonly<Record<EffectKind, Waiting>> };
  readonly parked: { readonly orders: number; readonly messages: number; readonly deadLetters: number };
  readonly notices: { readonly failing: number; readonly givenUp: number };
}

/** Messages not sent, steps owed to Redis or to notices, and notices that are tried again. */
export type WaitingKind = 'outbox' | 'effects' | 'notices';

/** One row of that. */
export interface WaitingRow {
  readonly id: string;
  readonly what: string;
  /** Null where the row is about several. */
  readonly orderId: string | null;
  readonly orders: number;
  readonly attempts: number;
  readonly lastError: string | null;
  readonly createdAt: Date;
}

export type OrdersByStatus = Readonly<Record<Exclude<OrderStatus, 'ABORTED'>, number>>;

export interface OrderSummary {
  readonly id: string;
  readonly userId: string;
  readonly activityId: number;
  readonly quantity: number;
  readonly status: OrderStatus;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly paidAt: Date | null;
  readonly closedAt: Date | null;
}

/** One of these. Each is answered by an index, and bounded by `limit`. */
export type SummaryFilter =
  | { readonly by: 'order'; readonly id: string }
  | { readonly by: 'user'; readonly userId: string }
  | { readonly by: 'payment'; readonly paymentId: string }
  /** Those that hold a place of an activity: all, the pending or the paid ones. */
  | { readonly by: 'activity'; readonly activityId: number; readonly status?: 'PENDING' | 'PAID' }
  /** The latest deadlines of a status first. */
  | { readonly by: 'status'; readonly status: Exclude<OrderStatus, 'ABORTED'> }
  /** Pending ones by deadline, from so many minutes ahead. */
  | { readonly by: 'due'; readonly fromMinute: number }
  /** What `readLateness` reads, the latest after its deadline first. */
  | { readonly by: 'late'; readonly sinceMs: number };

/**
 * What a page shows of MySQL. Its connections are READ ONLY: MySQL refuses a write over them, whatever a fault in
 * this process does. Nothing here locks, and each read is bounded by an index and a limit.
 */
export interface OrderViews {
  close(): Promise<void>;
  /** One round trip. Rejects when MySQL does not answer in time. */
  ping(): Promise<void>;
  /** The database clock, estimated, in milliseconds since 1970. */
  now(): number;
  /** Those that still sell or may still owe something, the newest first. */
  listLiveActivities(limit: number): Promise<Activity[]>;
  readActivityCounts(activityId: number): Promise<ActivityCounts | null>;
  /** In input order; undefined where there is no such order. Two statements, however many ids. */
  watchOrders(ids: readonly string[]): Promise<(WatchedOrder | undefined)[]>;
  /** The buyer's newest orders. */
  listBuyerOrders(userId: string, limit: number): Promise<OrderSummary[]>;
  listSummaries(filter: SummaryFilter, limit: number): Promise<OrderSummary[]>;
  readDueDeadlines(limit: number): Promise<DueDeadlines>;
  /** Counts by whole minute, of the pending orders alone. */
  countDueMinutes(minutes: number): Promise<DueMinute[]>;
  /** Of the orders whose deadline is still to come, or was at most so long ago. */
  countByStatus(options: { sinceMs: number }): Promise<OrdersByStatus>;
  /** How late messages and sweeps closed orders whose deadline was at most so long ago, in ms: what the metric counts. */
  readLateness(options: { sinceMs: number; limit: number }): Promise<number[]>;
  readWorkToDo(): Promise<WorkToDo>;
  /** The rows that it counts, the oldest first. */
  listWaiting(kind: WaitingKind, limit: number): Promise<WaitingRow[]>;
  readPaymentBacklog(): Promise<PaymentBacklog>;
  /** Those of the last hour, the living first. */
  listWorkers(): Promise<Worker[]>;
  listFindings(page: { beforeId?: string; limit: number }): Promise<Finding[]>;
}

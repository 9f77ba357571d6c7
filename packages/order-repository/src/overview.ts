import type { OrderStatus } from '@lapse/contracts';
import type { TimelineEffect } from './timeline.ts';

/** What waits, and for how long, all by the database clock. Ages are 0 where nothing waits. */
export interface Overview {
  readonly pending: number;
  /** Of those, past their deadline. */
  readonly overdue: number;
  /** How many of the others fall due within each of these times from now. */
  readonly due: readonly { readonly withinMs: number; readonly orders: number }[];
  readonly outbox: { readonly waiting: number; readonly oldestMs: number };
  /** What Redis, buyers and the shop are still owed, by kind; a row is a batch of orders. */
  readonly effects: readonly {
    readonly kind: TimelineEffect['kind'];
    readonly rows: number;
    readonly oldestMs: number;
  }[];
  readonly parked: number;
  readonly notices: Deliveries;
  readonly shopEvents: Deliveries;
}

export interface Deliveries {
  /** Not delivered yet, the failing ones included. */
  readonly waiting: number;
  /** Tried at least once, in vain. */
  readonly failing: number;
  /** For an operator to send again. */
  readonly givenUp: number;
}

/** All orders there ever were. */
export type OrderCounts = Readonly<Record<OrderStatus, number>>;

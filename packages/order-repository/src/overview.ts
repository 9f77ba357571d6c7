import type { OrderStatus } from '@lapse/contracts';
import type { WorkToDo } from './order-views.ts';

/** What waits, and for how long, all by the database clock. */
export interface Overview extends WorkToDo {
  readonly pending: number;
  /** Of those, past their deadline. */
  readonly overdue: number;
  /** How many of the others fall due within each of these times from now. */
  readonly due: readonly { readonly withinMs: number; readonly orders: number }[];
  /** For the shop's own systems: not delivered yet, and given up for an operator to send again. */
  readonly shopEvents: { readonly waiting: number; readonly givenUp: number };
}

/** All orders there ever were. */
export type OrderCounts = Readonly<Record<OrderStatus, number>>;

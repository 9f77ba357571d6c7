import type { OrderStatus } from '@lapse/contracts';

/** An activity's numbers in MySQL, all of one instant. */
export interface ActivityCounts {
  readonly capacity: number;
  readonly capacityVersion: number;
  readonly available: number;
  readonly generation: number;
  readonly stockRunId: string | null;
  /** Units, and number of orders. */
  readonly pending: { readonly units: number; readonly orders: number };
  readonly paid: { readonly units: number; readonly orders: number };
}

export interface ActiveOrder {
  readonly orderId: string;
  readonly userId: string;
  readonly quantity: number;
  readonly status: Extract<OrderStatus, 'PENDING' | 'PAID'>;
  /** Rises with every transition. */
  readonly version: number;
}

/** What Redis still has to be told about an activity: differences in these are in flight. */
export interface PendingChanges {
  readonly orderIds: ReadonlySet<string>;
  readonly capacity: boolean;
}

/** Something that a person should know of, and what is done about it: mostly what differed between MySQL and Redis. */
export interface NewFinding {
  readonly activityId: number | null;
  /** Up to 32 of a-z and `_`. */
  readonly kind: string;
  readonly action: string;
  readonly detail: object;
}

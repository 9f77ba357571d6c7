/** An activity's stock as Redis must have it, read under the activity's lock. */
export interface ActivitySnapshot {
  readonly activityId: number;
  /** The new generation: holds of an older one are refused by `createOrders` once this commits. */
  readonly generation: number;
  readonly capacity: number;
  /** Rises with each change of the capacity. */
  readonly capacityVersion: number;
  readonly available: number;
  /** Run id of the Redis server that had the stock until now; null: none. */
  readonly stockRunId: string | null;
  readonly holds: readonly SnapshotHold[];
  /** Buyers of orders that have ended and keep their idempotency key; one may be named twice. Null: too many to list. */
  readonly formerBuyers: readonly string[] | null;
}

export interface SnapshotHold {
  readonly orderId: string;
  readonly userId: string;
  readonly quantity: number;
  readonly state: 'held' | 'sold';
}

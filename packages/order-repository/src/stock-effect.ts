/** What must follow a commit in Redis: one row per batch and activity. Applied at least once. */
export interface StockEffect {
  /** UUID version 7. */
  readonly id: string;
  readonly kind: 'release' | 'confirm';
  readonly activityId: number;
  readonly orderIds: readonly string[];
}

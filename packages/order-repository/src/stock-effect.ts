/** What must follow a commit in Redis: one row per batch and activity. Applied at least once. */
export type StockEffect = SettleEffect | ReacquireEffect | CapacityEffect;

interface EffectOf<Kind extends string> {
  /** UUID version 7. */
  readonly id: string;
  readonly kind: Kind;
  readonly activityId: number;
  /** None for `capacity`. */
  readonly orderIds: readonly string[];
}

export type SettleEffect = EffectOf<'release' | 'confirm'>;

/** Orders that were closed and then paid: MySQL has given them places again. */
export interface ReacquireEffect extends EffectOf<'reacquire'> {
  readonly orders: readonly {
    readonly orderId: string;
    readonly userId: string;
    readonly quantity: number;
  }[];
}

export interface CapacityEffect extends EffectOf<'capacity'> {
  readonly version: number;
  readonly capacity: number;
}

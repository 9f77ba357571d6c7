import type { Activity } from './activity.ts';
import type { CapacityEffect } from './stock-effect.ts';

export interface ChangedCapacity {
  readonly activity: Activity;
  /** What Redis is owed; null when the capacity was that already. */
  readonly effect: CapacityEffect | null;
}

export type CapacityRefusal =
  | { readonly kind: 'not_found' }
  /** Its sale is over for good. */
  | { readonly kind: 'archived' }
  /** `taken`: places of pending and paid orders, which is the least that the capacity can be now. */
  | { readonly kind: 'below_sold'; readonly capacity: number; readonly taken: number };

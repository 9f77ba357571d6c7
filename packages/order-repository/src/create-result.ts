import type { OutboxRow } from '@lapse/contracts';
import type { Order } from './order.ts';

/** An order to write. Its hold was taken in Redis under this generation. */
export interface NewOrder {
  /** UUID version 7, lower case; the same id as the hold's. */
  readonly id: string;
  readonly activityId: number;
  readonly generation: number;
  readonly userId: string;
  readonly quantity: number;
  readonly amountMinor: number;
  readonly currency: string;
  readonly locale: string;
  readonly createdAt: Date;
  readonly remindAt: Date;
  readonly expiresAt: Date;
  readonly idempotencyKey: string;
  /** SHA-256 of the request, 32 bytes. */
  readonly requestHash: Buffer;
}

/**
 * What became of one new order.
 * - created: committed; its hold is spent.
 * - sold_out: MySQL has not that many places left. Release the hold.
 * - stale_generation: the hold no longer counts, because Redis was rebuilt or the hold was fenced. Release it, reload the activity.
 * - same_key: this buyer's order with this key is there already, maybe this very one. Release the hold only if
 *   `order.id` is another id; compare `requestHash` to tell a repeat from a misuse.
 * - already_holding: this buyer has another active order here. Release the hold.
 * - activity_locked: others keep the activity's row locked, for seconds already. Release the hold; later it may do.
 */
export type CreateResult =
  | { readonly kind: 'created' }
  | { readonly kind: 'sold_out' }
  | { readonly kind: 'stale_generation' }
  | { readonly kind: 'same_key'; readonly order: Order }
  | { readonly kind: 'already_holding'; readonly order: Order }
  | { readonly kind: 'activity_locked' };

export interface CreateOutcome {
  /** In the order of the input. */
  readonly results: readonly CreateResult[];
  /** To send at once; null when nothing was created. If nobody sends it, the sweeper does. */
  readonly outbox: OutboxRow | null;
}

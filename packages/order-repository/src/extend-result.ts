import type { OutboxRow } from '@lapse/contracts';
import type { Order } from './order.ts';

/** How far: by so many milliseconds from the present deadline, or to a time. */
export type Extension = { readonly byMs: number } | { readonly until: Date };

export interface ExtendedOrder {
  readonly order: Order;
  /** The message that arms the new deadline; if nobody sends it, the sweeper does. */
  readonly outbox: OutboxRow;
}

export type ExtendRefusal =
  | { readonly kind: 'not_found' }
  | { readonly kind: 'not_pending'; readonly order: Order }
  /** The new deadline is not after the present one, or has passed already. */
  | { readonly kind: 'not_later'; readonly order: Order }
  /** No order may be pending longer than 30 days after it was placed. */
  | { readonly kind: 'too_late'; readonly latest: Date };

import type { OrderView } from '@lapse/contracts';
import type { Problem } from '@lapse/operations';

/** What a buyer is answered who wants to place an order. */
export type CreateAnswer =
  | { readonly kind: 'created'; readonly order: OrderView }
  /** The same request came before: its first answer again. */
  | { readonly kind: 'replayed'; readonly order: OrderView }
  | { readonly kind: 'refused'; readonly problem: Problem };

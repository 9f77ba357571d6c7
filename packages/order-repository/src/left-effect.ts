import type { RowRefused } from './settle-result.ts';

/** Effects that become rows of their own. Those of the stock are tried for ever, and never left. */
export type LeftEffectKind = 'closed_notice' | 'shop_event';

/** An effect that could not be expanded in all its tries: its orders' notices or events are not written. */
export interface LeftEffect {
  readonly id: string;
  readonly kind: LeftEffectKind;
  /** How many orders it is about. */
  readonly orders: number;
  readonly attempts: number;
  readonly createdAt: Date;
}

/** What becomes of one effect, or would. `changed` is false in a dry run, and where nothing was to do. */
export type RedriveEffectOutcome =
  | RowRefused<string>
  | ({ readonly id: string; readonly changed: boolean } & (
      | { readonly kind: 'redriven'; readonly effect: LeftEffectKind; readonly orders: number }
      /** It is still tried by itself. */
      | { readonly kind: 'not_left' }
      /** Done since, or never there. */
      | { readonly kind: 'not_found' }
    ));

import type { Phase } from '@lapse/contracts';
import type { RowRefused } from './settle-result.ts';

/** `order`: it alone made its transaction fail. `message`: not understood. `dead_letter`: never acknowledged. */
export type ParkedKind = 'order' | 'message' | 'dead_letter';
export type ParkedState = 'PARKED' | 'REDRIVEN' | 'DROPPED';

/** Something that was set aside for an operator. */
export interface Parked {
  readonly id: number;
  readonly kind: ParkedKind;
  readonly state: ParkedState;
  /** The broker's id of the message, or the order's id. */
  readonly ref: string;
  readonly orderId: string | null;
  readonly phase: Phase | null;
  readonly reason: string;
  /** The message as it came; null for an order. */
  readonly body: Buffer | null;
  readonly createdAt: Date;
  readonly settledAt: Date | null;
  /** Which operator settled it, and why; null while it is parked. */
  readonly settledBy: string | null;
  readonly settledReason: string | null;
}

export interface ParkedFilter {
  readonly kind?: ParkedKind;
  readonly state?: ParkedState;
  readonly orderId?: string;
}

/** What becomes of one parked row, or would. `changed` is false in a dry run, and where nothing was to do. */
export type ParkedOutcome =
  | RowRefused<number>
  | ({ readonly id: number; readonly changed: boolean } & (
      | { readonly kind: 'redriven' /** Orders that get a new message. */; readonly rearmed: number }
      | { readonly kind: 'dropped' }
      /** Done with before: nothing happens a second time. */
      | { readonly kind: 'settled'; readonly state: ParkedState }
      /** A message that this release cannot read: it can only be dropped. */
      | { readonly kind: 'unreadable'; readonly reason: string }
      /** An order that still holds its places: redrive it, or cancel it first. */
      | { readonly kind: 'still_pending'; readonly orderId: string }
      | { readonly kind: 'not_found' }
    ));

import type { RowRefused } from './settle-result.ts';

/** Which kind of delivery: a notice to a buyer, or an event for the shop. */
export type DeliveryKind = 'notification' | 'shop_event';

/** To be tried again, or given up. `untried`: it was never begun, so that no try is counted. */
export type FailedDelivery =
  | {
      readonly state: 'WAITING';
      readonly retryInMs: number;
      readonly error: string;
      readonly untried?: true;
    }
  | { readonly state: 'PARKED'; readonly error: string };

/** A delivery that was given up: parked until an operator has it sent again. */
export interface Undelivered {
  readonly id: number;
  readonly orderId: string;
  /** Stage of the notice, or type of the event. */
  readonly what: string;
  readonly attempts: number;
  readonly lastError: string | null;
  readonly createdAt: Date;
}

/** What becomes of one delivery, or would. `changed` is false in a dry run, and where nothing was to do. */
export type ResendOutcome =
  | RowRefused<number>
  | ({ readonly id: number; readonly changed: boolean } & (
      | { readonly kind: 'resent'; readonly orderId: string; readonly what: string }
      /** Delivered, skipped, or on its way: nothing is to be sent again. */
      | { readonly kind: 'not_parked'; readonly state: string }
      | { readonly kind: 'not_found' }
    ));

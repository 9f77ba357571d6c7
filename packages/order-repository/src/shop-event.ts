import type { FailedDelivery } from './undelivered.ts';

/** What the shop is told of an order; in a webhook its type is `order.created` and so on. */
export type ShopEventType = 'created' | 'reminded' | 'paid' | 'closed' | 'cancelled' | 'refunded';

/**
 * HELD: an earlier event of the same order is not delivered yet. WAITING: next of its order. Of one order's
 * events at most one is WAITING or PARKED, and it comes before all that are HELD.
 */
export type ShopEventState = 'HELD' | 'WAITING' | 'SENT' | 'PARKED';

/** An event to deliver now. Leased to one caller for a while. */
export interface ShopEventJob {
  readonly id: number;
  /** UUID, the same over all deliveries of this event: the receiver recognises a repeat by it. */
  readonly eventId: string;
  readonly orderId: string;
  readonly type: ShopEventType;
  /** JSON, written once: each delivery sends the same bytes. */
  readonly body: string;
  /** Deliveries begun, this one included: with `id` it names the claim. */
  readonly attempts: number;
  /** Of those, since it was last sent again by hand: what a limit of tries counts. */
  readonly tries: number;
}

/** A claimed event: only this claim may finish it. */
export type ShopEventClaim = Pick<ShopEventJob, 'id' | 'orderId' | 'attempts'>;

export type ShopEventOutcome = { readonly state: 'SENT' } | FailedDelivery;

export interface FinishedShopEvent {
  readonly claim: ShopEventClaim;
  readonly outcome: ShopEventOutcome;
}

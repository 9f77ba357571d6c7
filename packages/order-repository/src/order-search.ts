/** What is known of the orders that somebody looks for. */
export type OrderFilter =
  | { readonly by: 'order'; readonly orderId: string }
  /** All of theirs, or those of one activity. */
  | { readonly by: 'user'; readonly userId: string; readonly activityId?: number }
  | { readonly by: 'activity'; readonly activityId: number }
  /** The provider's id of a payment, whatever became of it. */
  | { readonly by: 'payment'; readonly paymentId: string };

export interface OrderSearch {
  readonly filter: OrderFilter;
  /** The last id of the page before; absent: from the newest. */
  readonly beforeId?: string;
  readonly limit: number;
}

/**
 * The states of an order. It leaves PENDING once, and only MySQL decides how.
 * ABORTED fences a hold whose order was never written: it was never sold, and never will be.
 */
export const orderStatuses = ['PENDING', 'PAID', 'TIMEOUT_CLOSED', 'CANCELLED', 'ABORTED'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/** What moved an order from one state to the next; the timeline shows it. */
export const transitionCauses = [
  'create',
  'message',
  'sweep',
  'buyer',
  'payment',
  'operator',
  'settle',
] as const;
export type TransitionCause = (typeof transitionCauses)[number];

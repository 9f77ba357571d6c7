import { DeliveryError } from '@lapse/notifications';
import { deliveryRetryInMs } from './delivery-retry.ts';

export type FailureOutcome =
  | { readonly state: 'WAITING'; readonly retryInMs: number; readonly error: string }
  | { readonly state: 'PARKED'; readonly error: string };

/** What becomes of a delivery that failed for the `tries`-th time: another try, or an operator's matter. */
export function failureOutcome(cause: unknown, tries: number, triesMax: number): FailureOutcome {
  const error = cause instanceof Error ? cause.message : String(cause);
  const permanent = cause instanceof DeliveryError && cause.permanent === true;
  if (permanent || tries >= triesMax) return { state: 'PARKED', error };
  // A receiver may ask for more patience than we have by ourselves, not for less.
  const askedMs = cause instanceof DeliveryError ? (cause.retryAfterMs ?? 0) : 0;
  return { state: 'WAITING', retryInMs: Math.max(askedMs, deliveryRetryInMs(tries)), error };
}

/** A process that dies of a delivery never notes it: such a one ends here, instead of killing the next. */
export const neverFinished = 'claimed again and again, and never finished: each process that took it died';

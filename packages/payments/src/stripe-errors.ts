import { Stripe } from 'stripe';
import { errorOfSilence, errorOfStatus } from './answer-errors.ts';

export const stripeName = 'stripe';

/** Codes of a 4xx that say "not now": the same request may well be taken later. */
const laterCodes = new Set([
  'balance_insufficient',
  'idempotency_key_in_use',
  'insufficient_funds',
  'lock_timeout',
  'rate_limit',
]);

/**
 * What an error of the SDK means for whoever asked. Its text is Stripe's and holds no key, but it may hold a
 * buyer's data, so it is cut; headers and the raw answer stay on the cause, which the log does not print.
 */
export function stripeErrorOf(error: unknown): Error {
  if (!(error instanceof Stripe.errors.StripeError)) {
    return error instanceof Error ? error : new Error('Stripe failed', { cause: error });
  }
  const { statusCode, code, message, requestId, detail } = error;
  // No connection, a timeout, or an answer that was not Stripe's: the SDK hangs the reason on `detail`.
  if (statusCode === undefined) return errorOfSilence(stripeName, detail instanceof Error ? detail : error);
  const reason = `${code ?? error.type}: ${message}${requestId === undefined ? '' : ` (request ${requestId})`}`;
  return errorOfStatus(
    stripeName,
    code !== undefined && laterCodes.has(code) ? 429 : statusCode,
    reason,
    error,
  );
}

import { readBounded } from './read-bounded.ts';

/** A list of a hundred refunds, with room. */
const answerBytesMax = 1_048_576;

/**
 * `fetch` for the SDK. The SDK takes every JSON answer without an `error` for a success, whatever its status; so
 * a proxy's own 503 would pass for a PaymentIntent. Here an answer that is not 2xx is Stripe's word only when it
 * has Stripe's shape; anything else counts as no answer. No body is read without end. Redirects are not followed.
 */
export async function stripeFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'manual' });
  const { ok, status, headers } = response;
  const text = await readBounded(response, answerBytesMax);
  if (!ok && !hasError(text)) throw new Error(`HTTP ${status}, and not in the shape of Stripe's errors`);
  return new Response(text === '' ? null : text, { status, headers });
}

function hasError(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && 'error' in parsed;
  } catch {
    return false;
  }
}

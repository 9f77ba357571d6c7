import { ProviderRefusedError, ProviderUnavailableError } from './provider-errors.ts';

/** An error's text may quote what we sent; this much of it is enough to know the cause. */
const reasonMax = 300;

/**
 * Statuses that say nothing of the request itself. 401 and 403 are among them: a key that was changed is put
 * right by the operator, and until then no refund may be given up for it.
 */
const laterStatuses = new Set([401, 403, 408, 425, 429]);

/** What an HTTP status other than 2xx means for whoever asked. */
export function errorOfStatus(
  provider: string,
  status: number,
  reason: string,
  cause?: unknown,
): ProviderUnavailableError | ProviderRefusedError {
  const later = status >= 500 || status < 400 || laterStatuses.has(status);
  const message = `${provider} answered ${status}: ${reason.slice(0, reasonMax)}`;
  return later
    ? new ProviderUnavailableError(message, { cause })
    : new ProviderRefusedError(message, { cause });
}

/** No answer at all. The call may have taken effect or not. */
export function errorOfSilence(provider: string, cause: unknown): ProviderUnavailableError {
  return new ProviderUnavailableError(`${provider} did not answer: ${reasonOf(cause)}`, { cause });
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause).slice(0, reasonMax);
  // fetch says "fetch failed" and hangs the reason below.
  const inner = cause.cause instanceof Error ? ` (${cause.cause.message})` : '';
  return `${cause.message}${inner}`.slice(0, reasonMax);
}

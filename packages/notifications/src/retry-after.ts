/** A receiver may not put a notice off for longer than this. */
const retryAfterMsMax = 3_600_000;

/**
 * The `Retry-After` header in milliseconds: whole seconds or an HTTP date, from 0 to an hour; undefined
 * when it is absent or neither.
 */
export function parseRetryAfterMs(header: string | null, now: number = Date.now()): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  // Date.parse alone takes almost anything: "-5" is a day in 2001 to it.
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : date - now;
  return Number.isNaN(ms) ? undefined : Math.min(retryAfterMsMax, Math.max(0, ms));
}

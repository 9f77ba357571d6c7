export interface BackOffLimits {
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * How long to wait before retry number `attempt` (the first is 1): evenly random between `minMs` and
 * `minMs * 2^attempt`, at most `maxMs`. The jitter keeps replicas that failed together from coming back together.
 */
export function backOffMs(attempt: number, { minMs, maxMs }: BackOffLimits): number {
  const doublings = Number.isFinite(attempt) ? Math.max(0, attempt) : 0;
  const ceiling = Math.max(minMs, Math.min(maxMs, minMs * 2 ** doublings));
  return Math.round(minMs + Math.random() * (ceiling - minMs));
}

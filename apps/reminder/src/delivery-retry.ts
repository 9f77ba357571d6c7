const firstWaitMs = 5_000;
const waitMaxMs = 600_000;

/**
 * How long a delivery waits after its n-th failed try: 5 s, doubled each time up to 10 minutes, of which
 * the upper half is random so that a crowd does not come back together. Half is certain on purpose: ten
 * tries then always span more than 15 minutes, and a receiver that is down for ten loses no notice.
 */
export function deliveryRetryInMs(tries: number, random: () => number = Math.random): number {
  const fullMs = Math.min(waitMaxMs, firstWaitMs * 2 ** Math.min(tries - 1, 30));
  return Math.round(fullMs / 2 + (random() * fullMs) / 2);
}

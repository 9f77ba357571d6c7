import { workInLanes } from '@lapse/runtime';

/** Beyond the longest time that a claimed batch can take, so that nothing is sent twice. */
const leaseMarginMs = 10_000;

/** How long a batch of claims must be one's own: until its last delivery is over, each taking its longest. */
export function leaseMsFor(limits: DeliveryLimits & { readonly batchMax: number }): number {
  return Math.ceil(limits.batchMax / limits.atOnceMax) * limits.deliveryMsMax + leaseMarginMs;
}

/** What becomes of a claim whose delivery was never begun: it is due at once, and its try does not count. */
export const handBack = {
  state: 'WAITING',
  retryInMs: 0,
  error: 'handed back: the process is stopping',
  untried: true,
} as const;

export interface DeliveryLimits {
  /** Deliveries at once: a receiver that answers slowly holds up so many less one, and not the whole batch. */
  readonly atOnceMax: number;
  /** Longest time of one. */
  readonly deliveryMsMax: number;
}

export interface ClaimedBatch<Job> extends DeliveryLimits {
  readonly jobs: readonly Job[];
  /** By this process's monotonic clock; measured from before the claim, so never later than in MySQL. */
  readonly leaseEndsAtMs: number;
  readonly signal: AbortSignal;
  /** Deliver one and note how it went; rejects only when that could not be noted. */
  readonly deliver: (job: Job) => Promise<void>;
  /** Give one back undelivered. */
  readonly handBack: (job: Job) => Promise<void>;
}

/**
 * Deliver what was claimed, several at once. Nothing is begun that could end after the lease: the process stood
 * still, or MySQL did, and the rest is another's by now. What is not begun when the process stops goes back
 * at once, instead of waiting for its lease to end.
 * @throws when the outcome of one could not be noted; the others are delivered first.
 */
export async function deliverClaimed<Job>(batch: ClaimedBatch<Job>): Promise<void> {
  try {
    await workInLanes(batch.jobs, batch.atOnceMax, async (job) => {
      if (performance.now() + batch.deliveryMsMax >= batch.leaseEndsAtMs) return;
      if (batch.signal.aborted) await batch.handBack(job);
      else await batch.deliver(job);
    });
  } catch (cause) {
    throw new Error('a delivery could not be settled', { cause });
  }
}

import { DeliveryError, type Notifier } from '@lapse/notifications';
import type { NoticeJob, OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import { noticesHandled } from './metrics.ts';
import { noticeRetryInMs } from './notice-retry.ts';

export interface DeliverNoticesParts {
  readonly orders: Pick<
    OrderRepository,
    'claimNotifications' | 'expandClosedNotices' | 'finishNotification' | 'now' | 'readOrder'
  >;
  readonly notifier: Pick<Notifier, 'send'>;
  readonly config: { readonly batchMax: number; readonly attemptsMax: number; readonly timeoutMs: number };
  readonly log: Logger;
}

/** Deliveries at once: a receiver that answers slowly holds up seven others, not a hundred. */
const deliveriesAtOnceMax = 8;
/** Closed batches whose notices are written in one run; one of them is up to 2,000 orders. */
const closedBatchesMax = 10;
/** Beyond the longest time that a claimed batch can take, so that a notice is not sent twice. */
const leaseMarginMs = 10_000;
/** A status read longer ago than this is read again before a reminder goes out. */
const statusFreshMs = 500;

/**
 * Deliver waiting notices to buyers: what closing wrote first becomes one notice an order, then they are
 * claimed in batches and sent, several at once. A notice is claimed under a lease, so that any number of
 * reminders may run; one killed between sending and writing that down sends again when the lease ends,
 * with the same id for the receiver to recognise. A failure waits longer each time and is parked after
 * `attemptsMax`.
 *
 * It runs beside the reminding and never in its way: a receiver that is slow or dead delays notices alone.
 * @returns one run of it, which ends when nothing is due.
 */
export function deliverNotices(parts: DeliverNoticesParts): (signal: AbortSignal) => Promise<void> {
  const { orders, config } = parts;
  const roundsMax = Math.ceil(config.batchMax / deliveriesAtOnceMax);
  const leaseMs = roundsMax * config.timeoutMs + leaseMarginMs;
  return async (signal) => {
    for (;;) {
      const expanded = await orders.expandClosedNotices(closedBatchesMax);
      // Measured from before the claim, so that it never ends later here than in MySQL.
      const leaseEndsAtMs = performance.now() + leaseMs;
      const jobs = await orders.claimNotifications({ limit: config.batchMax, leaseMs });
      await deliverAll(parts, jobs, leaseEndsAtMs, signal);
      if (signal.aborted || (expanded === 0 && jobs.length < config.batchMax)) return;
    }
  };
}

async function deliverAll(
  parts: DeliverNoticesParts,
  jobs: readonly NoticeJob[],
  leaseEndsAtMs: number,
  signal: AbortSignal,
): Promise<void> {
  const claimedAtMs = performance.now();
  const waiting = jobs.values();
  const lane = async (): Promise<void> => {
    for (const job of waiting) {
      // The process stood still, or MySQL did: from here on the notices are another reminder's.
      if (performance.now() + parts.config.timeoutMs >= leaseEndsAtMs) return;
      // Stopping: what is not begun goes back at once, instead of waiting for its lease to end.
      if (signal.aborted) await parts.orders.finishNotification(job, handBack);
      else await deliver(parts, job, performance.now() - claimedAtMs > statusFreshMs);
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: deliveriesAtOnceMax }, lane));
  const failed = lanes.find((result) => result.status === 'rejected');
  if (failed) throw new Error('a notice could not be settled', { cause: failed.reason });
}

const handBack = { state: 'WAITING', retryInMs: 0, error: 'handed back: the process is stopping' } as const;

async function deliver(parts: DeliverNoticesParts, job: NoticeJob, statusIsOld: boolean): Promise<void> {
  const { orders, notifier, log } = parts;
  if (job.stage === 'REMINDER' && !(await isPayable(parts, job, statusIsOld))) {
    await orders.finishNotification(job, { state: 'SKIPPED' });
    noticesHandled.inc({ stage: job.stage, outcome: 'skipped' });
    return;
  }
  try {
    await notifier.send({ ...job, remainingMs: Math.max(0, job.expiresAt.getTime() - orders.now()) });
  } catch (error) {
    await settleFailure(parts, job, error);
    return;
  }
  await orders.finishNotification(job, { state: 'SENT' });
  noticesHandled.inc({ stage: job.stage, outcome: 'sent' });
  log.debug({ orderId: job.orderId, stage: job.stage }, 'notice sent');
}

/** A reminder is for an order that can still be paid: never for one that was settled since it was due. */
async function isPayable(
  { orders }: DeliverNoticesParts,
  job: NoticeJob,
  readAgain: boolean,
): Promise<boolean> {
  const status = readAgain ? (await orders.readOrder(job.orderId))?.status : job.status;
  return status === 'PENDING' && job.expiresAt.getTime() > orders.now();
}

async function settleFailure(parts: DeliverNoticesParts, job: NoticeJob, cause: unknown): Promise<void> {
  const { orders, config, log } = parts;
  const error = cause instanceof Error ? cause.message : String(cause);
  const { orderId, stage, attempts } = job;
  if (attempts >= config.attemptsMax) {
    await orders.finishNotification(job, { state: 'PARKED', error });
    noticesHandled.inc({ stage, outcome: 'parked' });
    log.error({ orderId, stage, attempts, err: cause }, 'notice could not be delivered and is parked');
    return;
  }
  // A receiver may ask for more patience than we have by ourselves, not for less.
  const askedMs = cause instanceof DeliveryError ? (cause.retryAfterMs ?? 0) : 0;
  const retryInMs = Math.max(askedMs, noticeRetryInMs(attempts));
  await orders.finishNotification(job, { state: 'WAITING', retryInMs, error });
  noticesHandled.inc({ stage, outcome: 'retry' });
  log.warn({ orderId, stage, attempts, retryInMs, error }, 'notice not delivered; trying again');
}

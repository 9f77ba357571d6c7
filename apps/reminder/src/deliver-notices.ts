import type { Notifier } from '@lapse/notifications';
import type { FinishedNotice, NoticeJob, NoticeOutcome, OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import { deliverClaimed, handBack, leaseMsFor } from './deliver-claimed.ts';
import { failureOutcome, neverFinished } from './failure-outcome.ts';
import { finishTogether } from './finish-together.ts';
import { noticesHandled } from './metrics.ts';

export interface DeliverNoticesParts {
  readonly orders: Pick<
    OrderRepository,
    'claimNotifications' | 'expandClosedNotices' | 'finishNotifications' | 'now' | 'readOrder'
  >;
  readonly notifier: Pick<Notifier, 'send' | 'sendMsMax'>;
  readonly config: { readonly batchMax: number; readonly attemptsMax: number };
  readonly log: Logger;
}

const atOnceMax = 8;
/** Closed batches whose notices are written in one run, while their orders are not too many for one. */
const closedBatchesMax = 1_000;
/** In the metric, once an outcome is durable. */
const outcomeNames = { SENT: 'sent', SKIPPED: 'skipped', PARKED: 'parked', WAITING: 'retry' } as const;
/** A status read longer ago than this is read again before a notice goes out. */
const statusFreshMs = 500;

/**
 * Deliver waiting notices to buyers: what closing wrote first becomes one notice an order, then they are
 * claimed in batches and sent, several at once. A notice is claimed under a lease, so that any number of
 * reminders may run; one killed between sending and writing that down sends again when the lease ends,
 * with the same id for the receiver to recognise. A failure waits longer each time and is parked after
 * `attemptsMax` tries, or at once when the same again would be refused again.
 *
 * It runs beside the reminding and never in its way: a receiver that is slow or dead delays notices alone.
 * @returns one run of it, which ends when nothing is due.
 */
export function deliverNotices(parts: DeliverNoticesParts): (signal: AbortSignal) => Promise<void> {
  const { orders, notifier, config } = parts;
  const { batchMax } = config;
  const limits = { atOnceMax, deliveryMsMax: notifier.sendMsMax };
  const leaseMs = leaseMsFor({ ...limits, batchMax });
  const finish = finishTogether<FinishedNotice>(
    'note_notice',
    (finished) => orders.finishNotifications(finished),
    batchMax,
  );
  return async (signal) => {
    for (;;) {
      const expanded = await orders.expandClosedNotices(closedBatchesMax);
      const leaseEndsAtMs = performance.now() + leaseMs;
      const jobs = await orders.claimNotifications({ limit: batchMax, leaseMs });
      const claimedAtMs = performance.now();
      await deliverClaimed<NoticeJob>({
        ...limits,
        jobs,
        leaseEndsAtMs,
        signal,
        deliver: async (job) => {
          const statusIsOld = performance.now() - claimedAtMs > statusFreshMs;
          const outcome = await outcomeOf(parts, job, statusIsOld);
          await finish({ claim: job, outcome });
          noticesHandled.inc({ stage: job.stage, outcome: outcomeNames[outcome.state] });
        },
        handBack: (job) => finish({ claim: job, outcome: handBack }),
      });
      if (signal.aborted || (expanded === 0 && jobs.length < batchMax)) return;
    }
  };
}

async function outcomeOf(
  parts: DeliverNoticesParts,
  job: NoticeJob,
  statusIsOld: boolean,
): Promise<NoticeOutcome> {
  const { orders, notifier, config, log } = parts;
  const { orderId, stage, tries } = job;
  if (!(await isWanted(parts, job, statusIsOld))) return { state: 'SKIPPED' };
  try {
    if (tries > config.attemptsMax) throw new Error(neverFinished);
    await notifier.send({ ...job, remainingMs: Math.max(0, job.expiresAt.getTime() - orders.now()) });
  } catch (error) {
    return afterFailure(parts, job, error);
  }
  log.debug({ orderId, stage }, 'notice sent');
  return { state: 'SENT' };
}

/**
 * A reminder is for an order that can still be paid: never for one that was settled since it was due. "It
 * closed" is for one that is closed still: not when a late payment took a place again.
 */
async function isWanted(
  { orders }: DeliverNoticesParts,
  job: NoticeJob,
  readAgain: boolean,
): Promise<boolean> {
  const status = readAgain ? (await orders.readOrder(job.orderId))?.status : job.status;
  if (job.stage === 'CLOSED') return status === 'TIMEOUT_CLOSED';
  return status === 'PENDING' && job.expiresAt.getTime() > orders.now();
}

function afterFailure({ config, log }: DeliverNoticesParts, job: NoticeJob, cause: unknown): NoticeOutcome {
  const { orderId, stage, tries } = job;
  const outcome = failureOutcome(cause, tries, config.attemptsMax);
  if (outcome.state === 'PARKED') {
    log.error({ orderId, stage, tries, err: cause }, 'notice could not be delivered and is parked');
  } else {
    log.warn({ orderId, stage, tries, ...outcome }, 'notice not delivered; trying again');
  }
  return outcome;
}

import type { ShopChannel } from '@lapse/notifications';
import type { FinishedShopEvent, OrderRepository, ShopEventJob } from '@lapse/order-repository';
import { crashPoint, type Logger } from '@lapse/runtime';
import { deliverClaimed, handBack, leaseMsFor } from './deliver-claimed.ts';
import { failureOutcome, neverFinished } from './failure-outcome.ts';
import { finishTogether } from './finish-together.ts';
import { shopEventsHandled } from './metrics.ts';

export interface DeliverShopEventsParts {
  readonly orders: Pick<OrderRepository, 'claimShopEvents' | 'expandShopEvents' | 'finishShopEvents'>;
  readonly channel: Pick<ShopChannel, 'send'>;
  readonly config: {
    readonly batchMax: number;
    readonly atOnceMax: number;
    readonly attemptsMax: number;
    readonly timeoutMs: number;
  };
  readonly log: Logger;
}

/** In the metric, once an outcome is durable. */
const outcomeNames = { SENT: 'sent', PARKED: 'parked', WAITING: 'retry' } as const;

/** Changes whose events are written in one run; one of them is up to 2,000 orders. */
const changesMax = 20;

/**
 * Tell the shop what happened to its orders: at least once, and for each order in the order in which it happened.
 * An event is handed out when those before it are delivered, so of one order there is never more than one
 * under way; one that is parked keeps the later ones of its order waiting, and no other order's.
 *
 * Any number of reminders may run it at once. One that is killed after sending sends again when its lease ends,
 * under the same id. A process that stood still while sending may deliver a repeat late: the receiver
 * knows it by its id.
 * @returns one run of it, which ends when nothing is due.
 */
export function deliverShopEvents(parts: DeliverShopEventsParts): (signal: AbortSignal) => Promise<void> {
  const { orders, config } = parts;
  const { batchMax, atOnceMax } = config;
  const limits = { atOnceMax, deliveryMsMax: config.timeoutMs };
  const leaseMs = leaseMsFor({ ...limits, batchMax });
  const finish = finishTogether<FinishedShopEvent>(
    'note_shop_event',
    (finished) => orders.finishShopEvents(finished),
    batchMax,
  );
  return async (signal) => {
    for (;;) {
      const expanded = await orders.expandShopEvents(changesMax);
      const leaseEndsAtMs = performance.now() + leaseMs;
      const jobs = await orders.claimShopEvents({ limit: batchMax, leaseMs });
      await deliverClaimed<ShopEventJob>({
        ...limits,
        jobs,
        leaseEndsAtMs,
        signal,
        deliver: async (job) => {
          const outcome = await outcomeOf(parts, job);
          await finish({ claim: job, outcome });
          shopEventsHandled.inc({ type: job.type, outcome: outcomeNames[outcome.state] });
        },
        handBack: (job) => finish({ claim: job, outcome: handBack }),
      });
      // An event that was delivered has freed the next one of its order: look again.
      if (signal.aborted || (expanded === 0 && jobs.length === 0)) return;
    }
  };
}

async function outcomeOf(
  { channel, config, log }: DeliverShopEventsParts,
  { eventId, orderId, type, body, tries }: ShopEventJob,
): Promise<FinishedShopEvent['outcome']> {
  try {
    if (tries > config.attemptsMax) throw new Error(neverFinished);
    await channel.send({ eventId, body });
    crashPoint('shop-event.sent');
    return { state: 'SENT' };
  } catch (error) {
    const outcome = failureOutcome(error, tries, config.attemptsMax);
    const fields = { eventId, orderId, type, tries };
    if (outcome.state === 'PARKED') {
      log.error(
        { ...fields, err: error },
        'event for the shop is parked, and with it the later ones of its order',
      );
    } else {
      log.warn({ ...fields, ...outcome }, 'event for the shop not delivered; trying again');
    }
    return outcome;
  }
}

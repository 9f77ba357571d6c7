import type { ShopChannel } from '@lapse/notifications';
import type { FinishedShopEvent, OrderRepository, ShopEventJob } from '@lapse/order-repository';
import { crashPoint, createBatcher, type Logger } from '@lapse/runtime';
import { deliverClaimed, leaseMsFor } from './deliver-claimed.ts';
import { failureOutcome, neverFinished } from './failure-outcome.ts';
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
  // What ends together is written together, in one transaction.
  const finish = createBatcher<FinishedShopEvent, void>({
    run: async (finished) => {
      await orders.finishShopEvents(finished);
      return finished.map(() => undefined);
    },
    batchMax,
    queueMax: batchMax,
  });
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
        deliver: async (job) => finish.submit({ claim: job, outcome: await outcomeOf(parts, job) }),
        handBack: (job) => finish.submit({ claim: job, outcome: handBack }),
      });
      // An event that was delivered has freed the next one of its order: look again.
      if (signal.aborted || (expanded === 0 && jobs.length === 0)) return;
    }
  };
}

const handBack = { state: 'WAITING', retryInMs: 0, error: 'handed back: the process is stopping' } as const;

async function outcomeOf(
  { channel, config, log }: DeliverShopEventsParts,
  { eventId, orderId, type, body, tries }: ShopEventJob,
): Promise<FinishedShopEvent['outcome']> {
  try {
    if (tries > config.attemptsMax) throw new Error(neverFinished);
    await channel.send({ eventId, body });
    crashPoint('shop-event.sent');
    shopEventsHandled.inc({ type, outcome: 'sent' });
    return { state: 'SENT' };
  } catch (error) {
    const outcome = failureOutcome(error, tries, config.attemptsMax);
    const fields = { eventId, orderId, type, tries };
    if (outcome.state === 'PARKED') {
      shopEventsHandled.inc({ type, outcome: 'parked' });
      log.error(
        { ...fields, err: error },
        'event for the shop is parked, and with it the later ones of its order',
      );
    } else {
      shopEventsHandled.inc({ type, outcome: 'retry' });
      log.warn({ ...fields, ...outcome }, 'event for the shop not delivered; trying again');
    }
    return outcome;
  }
}

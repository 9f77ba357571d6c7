import type { OrderRepository, RefundJob } from '@lapse/order-repository';
import { type PaymentProvider, ProviderRefusedError, type RefundAnswer } from '@lapse/payments';
import { backOffMs, type Logger } from '@lapse/runtime';
import { refundsTried } from './metrics.ts';
import { runLanes } from './provider-lanes.ts';

export interface PayRefundsParts {
  readonly orders: Pick<
    OrderRepository,
    'claimRefunds' | 'failRefund' | 'finishRefund' | 'recordRefundFailure'
  >;
  readonly provider: Pick<PaymentProvider, 'name' | 'refund'>;
  readonly config: {
    readonly atOnceMax: number;
    /** Longest time of one call to the provider. */
    readonly timeoutMs: number;
  };
  readonly log: Logger;
}

const refundsPerLaneMax = 4;
const leaseMarginMs = 10_000;
const unavailable = { minMs: 500, maxMs: 300_000 };
/** The provider will say no again, unless a person does something there. */
const refusedMs = 3_600_000;
/** A free order needs no money back, and providers refuse to pay back nothing. */
const nothingPaidRef = 'nothing-paid';
const refundFailedText =
  'refund failed at the provider: an operator must order it anew, POST /v1/ops/refunds/pay';
const supersededText =
  'refund accepted by the provider though it was paid by hand or ordered anew meanwhile: look whether the money went back twice';

/**
 * Send money back that no order could take. A refund is tried until the provider accepts it, however long that is: it
 * is a promise, and never given up. Its id is the same each time, so that an answer that was lost, a process that died
 * before it wrote the answer down, or two settlers at once still pay back once.
 *
 * Accepted is done: that the provider then carries it out is the provider's promise. One that it says it could not
 * carry out waits for an operator, who orders it anew.
 */
export function payRefunds(parts: PayRefundsParts): (signal: AbortSignal) => Promise<void> {
  const { orders, provider, config } = parts;
  const limit = config.atOnceMax * refundsPerLaneMax;
  const leaseMs = refundsPerLaneMax * config.timeoutMs + leaseMarginMs;
  return async (signal) => {
    for (;;) {
      const jobs = await orders.claimRefunds({ provider: provider.name, limit, leaseMs });
      if (jobs.length === 0) return;
      const answers = await runLanes({
        jobs,
        atOnceMax: config.atOnceMax,
        signal,
        work: (refund) => pay(parts, refund),
        handBack: (refund) =>
          orders.failRefund(refund, {
            inMs: signal.aborted ? 0 : backOffMs(refund.tries, unavailable),
            error: 'not tried: the process is stopping, or the provider is away',
          }),
      });
      if (signal.aborted || !answers || jobs.length < limit) return;
    }
  };
}

/** @returns false when the provider did not answer. */
async function pay({ orders, provider, log }: PayRefundsParts, refund: RefundJob): Promise<boolean> {
  const { id, refundId, orderId, paymentId, amountMinor, currency, tries } = refund;
  let answer: RefundAnswer;
  try {
    answer =
      amountMinor === 0
        ? { kind: 'refunded', refundRef: nothingPaidRef }
        : await provider.refund({ refundId, paymentId, amountMinor, currency });
  } catch (error) {
    const refused = error instanceof ProviderRefusedError;
    const inMs = refused ? refusedMs : backOffMs(tries, unavailable);
    const message = error instanceof Error ? error.message : String(error);
    await orders.failRefund(refund, { inMs, error: message });
    refundsTried.inc({ outcome: refused ? 'refused' : 'unavailable' });
    const fields = { err: error, orderId, paymentId, refundId, tries, inMs };
    if (refused)
      log.error(
        fields,
        'refund refused by the provider: a person must look; tried again later, until it is marked as paid by hand',
      );
    else log.warn(fields, 'refund not accepted yet; trying again');
    return refused;
  }
  const { refundRef } = answer;
  if (answer.kind === 'failed') {
    const { reason } = answer;
    await orders.recordRefundFailure({ paymentId, refundId, refundRef, reason });
    refundsTried.inc({ outcome: 'failed' });
    log.error({ orderId, paymentId, refundId, refundRef, reason }, refundFailedText);
    return true;
  }
  const finished = await orders.finishRefund(id, { refundId, refundRef });
  refundsTried.inc({ outcome: 'accepted' });
  if (finished === 'superseded')
    log.error({ orderId, paymentId, refundId, refundRef, tries }, supersededText);
  log.info({ orderId, paymentId, refundId, refundRef, tries }, 'refund accepted by the provider');
  return true;
}

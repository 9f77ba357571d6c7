import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import { paymentsApplied } from './metrics.ts';

export interface ApplyWaitingPaymentsParts {
  readonly orders: Pick<
    OrderRepository,
    'claimWaitingPayments' | 'giveUpWaitingPayments' | 'markEffectsApplied' | 'recordPayment'
  >;
  readonly stock: EffectPorts['stock'];
  readonly config: {
    /** A payment whose order is not there after this time goes back. */
    readonly keptMaxMs: number;
  };
  readonly log: Logger;
}

const paymentsPerBatchMax = 100;
/** Between two looks for the order of one payment. */
const retryMs = 1_000;

/**
 * Apply payments that came before their order, now that it may be there. One whose order has not come in all that
 * time is money for nothing, and goes back. Safe in any number of settlers, and beside the provider's own repeats.
 */
export function applyWaitingPayments(
  parts: ApplyWaitingPaymentsParts,
): (signal: AbortSignal) => Promise<void> {
  const { orders, config, log } = parts;
  return async (signal) => {
    for (;;) {
      const waiting = await orders.claimWaitingPayments({ limit: paymentsPerBatchMax, retryMs });
      for (const { event, waitedMs } of waiting) {
        const { outcome, effect } = await orders.recordPayment(event);
        if (effect) await applyEffects(parts, [effect]);
        if (outcome === 'kept') continue;
        paymentsApplied.inc({ outcome });
        const { orderId, paymentId } = event;
        log.info({ orderId, paymentId, outcome, waitedMs }, 'applied a payment that came before its order');
      }
      if (signal.aborted || waiting.length < paymentsPerBatchMax) break;
    }
    // After applying: one whose order has come meanwhile is no longer waiting.
    const limit = paymentsPerBatchMax;
    const orderIds = await orders.giveUpWaitingPayments({ olderThanMs: config.keptMaxMs, limit });
    if (orderIds.length === 0) return;
    paymentsApplied.inc({ outcome: 'given_up' }, orderIds.length);
    log.error({ orderIds }, 'payments for orders that never came: the money goes back');
  };
}

import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { OrderRepository, WaitingPayment } from '@lapse/order-repository';
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
 * time is money for nothing, and goes back. One that cannot be applied holds up none of the others. Safe in any number
 * of settlers, and beside the provider's own repeats.
 * @throws what the first of those that could not be applied met, once all others are done.
 */
export function applyWaitingPayments(
  parts: ApplyWaitingPaymentsParts,
): (signal: AbortSignal) => Promise<void> {
  const { orders } = parts;
  return async (signal) => {
    let failed = 0;
    let first: unknown;
    const seen = new Set<number>();
    for (;;) {
      const waiting = await orders.claimWaitingPayments({ limit: paymentsPerBatchMax, retryMs });
      // Where a run takes longer than `retryMs` the first are due again: going on, it would never come to give any up.
      const isRoundOver = waiting.some(({ id }) => seen.has(id));
      for (const payment of waiting) {
        if (signal.aborted) break;
        try {
          await apply(parts, payment);
        } catch (error) {
          // Not even an order whose row stays locked holds up the others.
          first ??= error;
          failed += 1;
        }
      }
      if (signal.aborted || failed > 0 || isRoundOver || waiting.length < paymentsPerBatchMax) break;
      for (const { id } of waiting) seen.add(id);
    }
    while ((await giveUp(parts)) === paymentsPerBatchMax && !signal.aborted);
    if (failed > 0) throw new Error(`${failed} kept payments could not be applied`, { cause: first });
  };
}

async function apply(parts: ApplyWaitingPaymentsParts, { event, waitedMs }: WaitingPayment): Promise<void> {
  const { outcome, effect } = await parts.orders.recordPayment(event);
  if (effect) await applyEffects(parts, [effect]);
  if (outcome === 'kept') return;
  paymentsApplied.inc({ outcome });
  const { orderId, paymentId } = event;
  parts.log.info({ orderId, paymentId, outcome, waitedMs }, 'applied a payment that came before its order');
}

/**
 * After applying: one whose order has come meanwhile is no longer waiting.
 * @returns how many were given up; fewer than a batch: no more are due.
 */
async function giveUp({ orders, config, log }: ApplyWaitingPaymentsParts): Promise<number> {
  const limit = paymentsPerBatchMax;
  const orderIds = await orders.giveUpWaitingPayments({ olderThanMs: config.keptMaxMs, limit });
  if (orderIds.length === 0) return 0;
  paymentsApplied.inc({ outcome: 'given_up' }, orderIds.length);
  log.error({ orderIds }, 'payments for orders that never came: the money goes back');
  return orderIds.length;
}

import type { PaymentOutcome } from '@lapse/contracts';
import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { OrderRepository } from '@lapse/order-repository';
import type { ProviderEvent } from '@lapse/payments';

export interface PaymentPorts extends EffectPorts {
  readonly orders: Pick<OrderRepository, 'markEffectsApplied' | 'recordPayment' | 'recordRefundFailure'>;
  readonly log: EffectPorts['log'] & { error(fields: object, message: string): void };
  readonly payments: { readonly provider: { readonly name: string } | null };
}

/**
 * Record a verified payment event. The same event, or the same capture under another event id, counts once.
 * MySQL decides between payment and close; the hold in Redis follows at once, or by the sweeper. An event that means
 * nothing to an order is ignored: a provider that learns new ones need not know which we take.
 */
export async function takePayment(ports: PaymentPorts, event: ProviderEvent): Promise<PaymentOutcome> {
  if (event.kind === 'other') return 'ignored';
  if (event.kind === 'refund_failed') return takeRefundFailure(ports, event);
  const { kind, ...data } = event;
  const result = await ports.orders.recordPayment({
    ...data,
    type: kind === 'captured' ? 'payment.captured' : 'payment.failed',
    provider: ports.payments.provider?.name ?? null,
  });
  if (result.effect) await applyEffects(ports, [result.effect]);
  return result.outcome;
}

type RefundFailed = Extract<ProviderEvent, { kind: 'refund_failed' }>;

/** The money is still owed: a person has to order its refund anew. Said in a finding, and in the log. */
async function takeRefundFailure(
  { orders, log }: PaymentPorts,
  { paymentId, refundId, refundRef, reason }: RefundFailed,
): Promise<PaymentOutcome> {
  const outcome = await orders.recordRefundFailure({ paymentId, refundId, refundRef, reason });
  if (outcome === 'refund_failed') {
    log.error(
      { paymentId, refundId, refundRef, reason },
      'a refund failed at the provider: an operator must order it anew, POST /v1/ops/refunds/pay',
    );
  }
  return outcome;
}

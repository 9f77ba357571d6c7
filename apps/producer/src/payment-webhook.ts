import type { PaymentOutcome } from '@lapse/contracts';
import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { OrderRepository } from '@lapse/order-repository';
import type { ProviderEvent } from '@lapse/payments';

export interface PaymentPorts extends EffectPorts {
  readonly orders: Pick<OrderRepository, 'recordPayment' | 'markEffectsApplied'>;
  readonly payments: { readonly provider: { readonly name: string } | null };
}

/**
 * Record a verified payment event. The same event, or the same capture under another event id, counts once.
 * MySQL decides between payment and close; the hold in Redis follows at once, or by the sweeper. An event that means
 * nothing to an order is ignored: a provider that learns new ones need not know which we take.
 */
export async function takePayment(ports: PaymentPorts, event: ProviderEvent): Promise<PaymentOutcome> {
  if (event.kind === 'other') return 'ignored';
  const { kind, ...data } = event;
  const result = await ports.orders.recordPayment({
    ...data,
    type: kind === 'captured' ? 'payment.captured' : 'payment.failed',
    provider: ports.payments.provider?.name ?? null,
  });
  if (result.effect) await applyEffects(ports, [result.effect]);
  return result.outcome;
}

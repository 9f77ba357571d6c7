import type { SimulatorAttempt, SimulatorRefund } from '@lapse/contracts';
import type { Attempt, Refund } from './books.ts';

export function attemptView({ terms, state, capture, refunds }: Attempt, pageUrl: string): SimulatorAttempt {
  const { providerRef, attemptId, orderId, amountMinor, currency } = terms;
  return {
    providerRef,
    attemptId,
    orderId,
    amountMinor,
    currency,
    state,
    payUrl: `${pageUrl}/pay/${providerRef}`,
    ...(capture && { capture }),
    refunds: refunds.map(refundView),
  };
}

export function refundView({ terms, state }: Refund): SimulatorRefund {
  return { ...terms, state };
}

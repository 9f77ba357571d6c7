import { type AttemptStatus, type Capture, type CreatedAttempt, statusOfCapture } from '@lapse/payments';
import type { Scheduler } from './scheduler.ts';

interface ProviderAttempt {
  readonly id: string;
  readonly orderId: string;
  readonly amountMinor: number;
  readonly currency: string;
  state: 'open' | 'cancelled' | 'captured';
  capture: Capture | null;
}

/** Money that went back to a buyer. */
interface ProviderRefund {
  readonly refundId: string;
  readonly paymentId: string;
  readonly amountMinor: number;
}

export interface ModelProvider {
  readonly name: string;
  readonly attempts: ReadonlyMap<string, ProviderAttempt>;
  /** All money taken, by an attempt or without one. */
  readonly captures: readonly (Capture & { readonly orderId: string })[];
  readonly refunds: ReadonlyMap<string, ProviderRefund>;
  createAttempt(
    request: Pick<ProviderAttempt, 'orderId' | 'amountMinor' | 'currency'> & { attemptId: string },
  ): CreatedAttempt;
  cancelAttempt(providerRef: string): AttemptStatus;
  refund(refund: ProviderRefund): { readonly kind: 'refunded'; readonly refundRef: string };
  /** The buyer pays at the provider's page. @returns undefined when the attempt is over. */
  pay(attemptId: string): Capture | undefined;
  /** Money taken without an attempt of ours. */
  take(orderId: string, amountMinor: number): Capture;
}

/** The payment provider: each attempt is captured or cancelled, once; each refund id pays back once. */
export function createModelProvider(scheduler: Pick<Scheduler, 'now'>): ModelProvider {
  const attempts = new Map<string, ProviderAttempt>();
  const captures: (Capture & { orderId: string })[] = [];
  const refunds = new Map<string, ProviderRefund>();

  function take(orderId: string, amountMinor: number): Capture {
    const paymentId = `payment-${captures.length + 1}`;
    const capture = { paymentId, amountMinor, currency: 'CNY', capturedAt: new Date(scheduler.now()) };
    captures.push({ ...capture, orderId });
    return capture;
  }

  function refundsOf({ paymentId }: Capture) {
    return [...refunds.values()]
      .filter((refund) => refund.paymentId === paymentId)
      .map((refund) => ({ ...refund, state: 'refunded' as const, refundRef: refundRefOf(refund) }));
  }

  return {
    name: 'model',
    attempts,
    captures,
    refunds,
    take,
    createAttempt: ({ attemptId, ...request }) => {
      if (!attempts.has(attemptId))
        attempts.set(attemptId, { id: attemptId, ...request, state: 'open', capture: null });
      return {
        providerRef: `ref-${attemptId}`,
        payUrl: `https://pay.example/${attemptId}`,
        clientSecret: null,
      };
    },
    cancelAttempt: (providerRef) => {
      const attempt = attempts.get(providerRef.slice('ref-'.length));
      if (!attempt) throw new Error(`the provider does not know ${providerRef}`);
      if (attempt.capture) return statusOfCapture(attempt.capture, refundsOf(attempt.capture));
      attempt.state = 'cancelled';
      return { kind: 'cancelled' };
    },
    refund: (refund) => {
      refunds.set(refund.refundId, refund);
      return { kind: 'refunded', refundRef: refundRefOf(refund) };
    },
    pay: (attemptId) => {
      const attempt = attempts.get(attemptId);
      if (attempt?.state !== 'open') return undefined;
      attempt.state = 'captured';
      attempt.capture = take(attempt.orderId, attempt.amountMinor);
      return attempt.capture;
    },
  };
}

function refundRefOf({ refundId }: ProviderRefund): string {
  return `back-${refundId}`;
}

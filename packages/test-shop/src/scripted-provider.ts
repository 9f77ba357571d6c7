import type { AttemptRequest, AttemptStatus, Capture, PaymentProvider, RefundRequest } from '@lapse/payments';
import { ProviderUnavailableError, statusOfCapture } from '@lapse/payments';
import { v7 as uuidv7 } from 'uuid';

interface ScriptedAttempt {
  readonly request: AttemptRequest;
  readonly providerRef: string;
  state: 'open' | 'captured' | 'cancelled';
  capture?: Capture;
}

export interface ScriptedProvider extends PaymentProvider {
  /** The buyer pays on the provider's page. @returns undefined when the attempt can be paid no more. */
  pay(attemptId: string): Capture | undefined;
  /** The provider does not answer: at all, or to the next calls of one kind, before or after it did what was asked. */
  away: boolean;
  failNext(
    method: 'createAttempt' | 'cancelAttempt' | 'refund',
    times: number,
    when: 'before' | 'after',
  ): void;
  /** Called after a cancel was decided and before its answer goes out. */
  onCancelled: (attemptId: string) => Promise<void>;
  /** Money that went back, one entry for each refund that the provider made. */
  readonly refunds: readonly RefundRequest[];
  attemptCount(): number;
}

/**
 * A payment provider in this process, with the port's guarantees and faults that a test can time to the millisecond,
 * which the simulator's process cannot give. Its webhooks are the test's to send.
 */
export function createScriptedProvider(name = 'scripted'): ScriptedProvider {
  const byId = new Map<string, ScriptedAttempt>();
  const byRef = new Map<string, ScriptedAttempt>();
  const refunds = new Map<string, RefundRequest>();
  const failures: { method: string; when: 'before' | 'after' }[] = [];

  const answer = async <T>(method: string, act: () => T): Promise<T> => {
    const index = failures.findIndex((failure) => failure.method === method);
    const [failure] = index < 0 ? [] : failures.splice(index, 1);
    if (provider.away || failure?.when === 'before') throw new ProviderUnavailableError('scripted: away');
    const result = act();
    if (failure?.when === 'after') throw new ProviderUnavailableError('scripted: the answer is lost');
    return result;
  };
  const find = (ref: string): ScriptedAttempt => {
    const attempt = byRef.get(ref);
    if (!attempt) throw new ProviderUnavailableError(`scripted: no attempt ${ref}`);
    return attempt;
  };
  /** After a cancel. */
  const statusOf = ({ capture }: ScriptedAttempt): AttemptStatus => {
    if (!capture) return { kind: 'cancelled' };
    const made = [...refunds.values()].filter(({ paymentId }) => paymentId === capture.paymentId);
    return statusOfCapture(
      capture,
      made.map((refund) => ({ ...refund, state: 'refunded', refundRef: refundRefOf(refund) })),
    );
  };

  const provider: ScriptedProvider = {
    name,
    away: false,
    onCancelled: async () => undefined,
    failNext: (method, times, when) => {
      for (let time = 0; time < times; time += 1) failures.push({ method, when });
    },
    refunds: [],
    attemptCount: () => byId.size,
    pay: (attemptId) => {
      const attempt = byId.get(attemptId);
      if (attempt?.state !== 'open') return undefined;
      const { amountMinor, currency } = attempt.request;
      attempt.state = 'captured';
      attempt.capture = { paymentId: `pay-${uuidv7()}`, amountMinor, currency, capturedAt: new Date() };
      return attempt.capture;
    },
    createAttempt: (request) =>
      answer('createAttempt', () => {
        const known = byId.get(request.attemptId);
        const attempt = known ?? { request, providerRef: `ref-${request.attemptId}`, state: 'open' as const };
        byId.set(request.attemptId, attempt);
        byRef.set(attempt.providerRef, attempt);
        return { providerRef: attempt.providerRef, payUrl: 'https://pay.example/now', clientSecret: null };
      }),
    cancelAttempt: async (ref) => {
      const status = await answer('cancelAttempt', () => {
        const attempt = find(ref);
        if (attempt.state === 'open') attempt.state = 'cancelled';
        return statusOf(attempt);
      });
      await provider.onCancelled(find(ref).request.attemptId);
      return status;
    },
    refund: (request) =>
      answer('refund', () => {
        refunds.set(request.refundId, request);
        return { kind: 'refunded' as const, refundRef: refundRefOf(request) };
      }),
    verifyWebhook: () => undefined,
    close: async () => undefined,
  };
  return Object.defineProperty(provider, 'refunds', { get: () => [...refunds.values()] });
}

function refundRefOf({ refundId }: RefundRequest): string {
  return `refund-${refundId}`;
}

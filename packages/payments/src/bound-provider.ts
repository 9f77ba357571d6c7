import { timeBox } from '@lapse/runtime';
import { z } from 'zod';
import type { PaymentProvider } from './payment-provider.ts';
import { ProviderRefusedError, ProviderUnavailableError } from './provider-errors.ts';

/** What MySQL has room for; ids are plain text as well, for they go into addresses. */
const plainText = (lengthMax: number) =>
  z
    .string()
    .regex(
      new RegExp(`^[\\x21-\\x7e]{1,${lengthMax}}$`),
      `must be 1 to ${lengthMax} printable ASCII characters`,
    );
const reference = plainText(255);
const createdAttempt = z.looseObject({
  providerRef: reference,
  payUrl: z.string().max(2_000).nullable(),
  clientSecret: z.string().max(500).nullable(),
});
const capture = z.object({
  paymentId: plainText(128),
  amountMinor: z.int().min(0),
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters'),
  capturedAt: z.date().min(new Date(0)).max(new Date('9999-12-31T23:59:59Z')),
});
const returned = z.object({
  amountMinor: z.int().min(1),
  refundId: z.uuid().nullable(),
  refundRef: reference.nullable(),
});
const attemptStatus = z.looseObject({ capture: capture.optional(), returned: returned.nullish() });
const refundAnswer = z.looseObject({ refundRef: reference });

/**
 * The same provider, with one time box around each call, however many requests the call is made of, and its answers
 * held to what MySQL can keep. So a call ends in `timeoutMs`, and with an answer or one of the two errors of the port:
 * whatever else goes wrong in it counts as no answer, and is its own trouble alone. A request that is under way when
 * the time is up goes on unheard, as one does whose answer is lost.
 */
export function boundProvider(provider: PaymentProvider, timeoutMs: number): PaymentProvider {
  const bounded =
    <Request, Answer>(what: string, form: z.ZodType, call: (request: Request) => Promise<Answer>) =>
    async (request: Request): Promise<Answer> => {
      const answer = await ask(() => call(request), `${provider.name}: ${what}`);
      const checked = form.safeParse(answer);
      if (checked.success) return answer;
      const faults = checked.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
      throw new ProviderUnavailableError(
        `${provider.name} answered ${what} with what cannot be kept: ${faults.join('; ')}`,
      );
    };
  const ask = async <Answer>(call: () => Promise<Answer>, what: string): Promise<Answer> => {
    try {
      return await timeBox(call(), timeoutMs, what);
    } catch (error) {
      if (error instanceof ProviderRefusedError || error instanceof ProviderUnavailableError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new ProviderUnavailableError(`${what} got no answer: ${reason}`, { cause: error });
    }
  };
  return {
    ...provider,
    createAttempt: bounded('createAttempt', createdAttempt, provider.createAttempt),
    cancelAttempt: bounded('cancelAttempt', attemptStatus, provider.cancelAttempt),
    refund: bounded('refund', refundAnswer, provider.refund),
  };
}

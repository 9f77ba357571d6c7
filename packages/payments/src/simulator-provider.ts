import { type SimulatorAttempt, simulatorAttempt, simulatorRefund } from '@lapse/contracts';
import type { z } from 'zod';
import { errorOfSilence, errorOfStatus } from './answer-errors.ts';
import { statusOfCapture } from './captured-status.ts';
import type { AttemptStatus, PaymentProvider } from './payment-provider.ts';
import { ProviderUnavailableError } from './provider-errors.ts';
import { readBounded } from './read-bounded.ts';
import { openStandardWebhooks } from './standard-webhooks.ts';

export interface SimulatorProviderConfig {
  readonly url: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
  readonly timeoutMs: number;
}

const name = 'simulator';

interface Call {
  readonly method: 'POST';
  readonly path: string;
  readonly body?: object;
  readonly idempotencyKey?: string;
}

/** The payment simulator (apps/payment-simulator) over HTTP. */
export function openSimulatorProvider(config: SimulatorProviderConfig): PaymentProvider {
  const ask = async <T>(schema: z.ZodType<T>, call: Call): Promise<T> => {
    const answer = schema.safeParse(await send(config, call));
    if (answer.success) return answer.data;
    throw new ProviderUnavailableError(`${name} answered what nobody understands: ${answer.error.message}`);
  };
  const attemptPath = (ref: string) => `/v1/attempts/${encodeURIComponent(ref)}`;
  return {
    name,
    createAttempt: async (request) => {
      const { attemptId, orderId, amountMinor, currency } = request;
      const body = { attemptId, orderId, amountMinor, currency };
      const { providerRef, payUrl } = await ask(simulatorAttempt, {
        method: 'POST',
        path: '/v1/attempts',
        body,
        idempotencyKey: attemptId,
      });
      return { providerRef, payUrl, clientSecret: null };
    },
    cancelAttempt: async (ref) =>
      statusOf(await ask(simulatorAttempt, { method: 'POST', path: `${attemptPath(ref)}/cancel` })),
    refund: async ({ refundId, paymentId, amountMinor, currency }) => {
      const { state, refundRef } = await ask(simulatorRefund, {
        method: 'POST',
        path: '/v1/refunds',
        body: { paymentId, amountMinor, currency },
        idempotencyKey: refundId,
      });
      return state === 'failed' ? { kind: state, refundRef, reason: null } : { kind: state, refundRef };
    },
    verifyWebhook: openStandardWebhooks(config.webhookSecret),
    // The connections belong to the process's own pool, which lets idle ones go.
    close: async () => {},
  };
}

function statusOf({ state, capture, refunds }: SimulatorAttempt): AttemptStatus {
  // After a cancel it cannot be open; whatever that means, it is not decided.
  if (state === 'open' || state === 'processing') return { kind: 'processing' };
  if (state === 'cancelled') return { kind: state };
  if (!capture) throw new ProviderUnavailableError(`${name} answered "captured" without the capture`);
  return statusOfCapture({ ...capture, capturedAt: new Date(capture.capturedAt) }, refunds);
}

/** One time box covers the connection, the answer and its body. Redirects are not followed: they would carry the key away. */
async function send(config: SimulatorProviderConfig, call: Call): Promise<unknown> {
  const { method, path, body, idempotencyKey } = call;
  const signal = AbortSignal.timeout(config.timeoutMs);
  let response: Response;
  let text: string;
  try {
    response = await fetch(new URL(path, config.url), {
      method,
      redirect: 'manual',
      signal,
      headers: {
        authorization: `Bearer ${config.apiKey}`,
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    text = await readBounded(response);
  } catch (cause) {
    throw errorOfSilence(name, cause);
  }
  if (!response.ok) throw errorOfStatus(name, response.status, text);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ProviderUnavailableError(`${name} answered ${response.status} without JSON`, { cause });
  }
}

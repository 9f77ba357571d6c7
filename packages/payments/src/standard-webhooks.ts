import {
  otherWebhookBody,
  paymentWebhookBody,
  refundFailedWebhookBody,
  webhookToleranceSeconds,
} from '@lapse/contracts';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { z } from 'zod';
import type { ProviderEvent, SignedRequest } from './payment-provider.ts';
import { WebhookBodyError } from './provider-errors.ts';
import { parseBody } from './webhook-faults.ts';

/** `webhook-id` becomes a key in MySQL; the library takes any text. */
const eventIdForm = /^[\x21-\x7e]{1,128}$/;
/** Digits alone: the library would read "1e9" as 1. */
const timestampForm = /^[0-9]{1,12}$/;

/**
 * Check and read webhooks per the Standard Webhooks specification: HMAC-SHA256 over id, timestamp and raw body,
 * compared in constant time, the timestamp no more than five minutes away in either direction.
 * @returns a function that returns undefined when a request must not be trusted, whatever is wrong with it.
 */
export function openStandardWebhooks(secret: string): (request: SignedRequest) => ProviderEvent | undefined {
  const webhook = new Webhook(secret);
  return ({ rawBody, headers }) => {
    const id = headers['webhook-id'];
    const timestamp = headers['webhook-timestamp'];
    const signature = headers['webhook-signature'];
    if (typeof id !== 'string' || !eventIdForm.test(id)) return undefined;
    if (typeof timestamp !== 'string' || !timestampForm.test(timestamp)) return undefined;
    // The library's tolerance is five minutes as well; this one is ours, so that it cannot drift.
    if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > webhookToleranceSeconds) return undefined;
    if (typeof signature !== 'string') return undefined;
    try {
      webhook.verify(
        rawBody,
        { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature },
        { jsonParse: false },
      );
    } catch (error) {
      if (error instanceof WebhookVerificationError) return undefined;
      throw error;
    }
    return readEvent(id, rawBody);
  };
}

function readEvent(eventId: string, rawBody: string): ProviderEvent {
  const parsed = parseJson(rawBody);
  const other = otherWebhookBody.safeParse(parsed);
  if (other.success) return { kind: 'other', eventId, type: other.data.type };
  if (isRefundFailure(parsed)) return readRefundFailure(eventId, parsed);
  const { type, timestamp, data } = parseBody(paymentWebhookBody, parsed);
  const { orderId, paymentId, amountMinor, currency, providerRef = paymentId } = data;
  return {
    kind: type === 'payment.captured' ? 'captured' : 'failed',
    eventId,
    orderId,
    providerRef,
    paymentId,
    amountMinor,
    currency,
    occurredAt: new Date(timestamp),
  };
}

function isRefundFailure(parsed: unknown): boolean {
  const { type } = refundFailedWebhookBody.shape;
  return z.object({ type }).safeParse(parsed).success;
}

function readRefundFailure(eventId: string, parsed: unknown): ProviderEvent {
  const { timestamp, data } = parseBody(refundFailedWebhookBody, parsed);
  const { paymentId, refundId, refundRef = null, reason = null } = data;
  const occurredAt = new Date(timestamp);
  return { kind: 'refund_failed', eventId, paymentId, refundId, refundRef, reason, occurredAt };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WebhookBodyError([{ field: 'body', message: 'is not valid JSON' }]);
  }
}

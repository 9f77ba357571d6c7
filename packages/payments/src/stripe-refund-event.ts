import { refundFailedWebhookBody } from '@lapse/contracts';
import { z } from 'zod';
import type { ProviderEvent } from './payment-provider.ts';
import { parseBody } from './webhook-faults.ts';

const id = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters');
const refundIdForm = refundFailedWebhookBody.shape.data.shape.refundId;

const refundEvent = z.object({
  /** Seconds since 1970; the last is in the year 9999, as far as MySQL goes. */
  created: z.int().min(0).max(253_402_300_799),
  data: z.object({
    object: z.object({
      id,
      status: z.string().nullish(),
      failure_reason: z.string().max(255).nullish(),
      payment_intent: z.union([id, z.object({ id })]).nullish(),
      metadata: z.object({ refund_id: z.unknown().optional() }).nullish(),
    }),
  }),
});

/** Of refunds only a failure matters here, and only of one that we asked for: it carries our id. */
export function readRefundEvent(eventId: string, type: string, event: unknown): ProviderEvent {
  const { created, data } = parseBody(refundEvent, event);
  const { id: refundRef, status, failure_reason: reason, payment_intent: intent, metadata } = data.object;
  const refundId = refundIdForm.safeParse(metadata?.refund_id);
  const paymentId = typeof intent === 'string' ? intent : intent?.id;
  const failed = status === 'failed' || status === 'canceled';
  if (!failed || !refundId.success || paymentId === undefined) return { kind: 'other', eventId, type };
  return {
    kind: 'refund_failed',
    eventId,
    paymentId,
    refundId: refundId.data,
    refundRef,
    reason: reason ?? status,
    occurredAt: new Date(created * 1_000),
  };
}

import { z } from 'zod';
import { orderId } from './ids.ts';

/**
 * Body of `POST /v1/payments/webhook`, signed per the Standard Webhooks specification: the headers
 * `webhook-id`, `webhook-timestamp` and `webhook-signature` cover it. `webhook-id` is the event's identity.
 */
export const paymentWebhookBody = z.strictObject({
  type: z.enum(['payment.captured', 'payment.failed']),
  timestamp: z.iso.datetime().describe('When it happened at the provider.'),
  data: z.strictObject({
    paymentId: z.string().min(1).max(128),
    orderId,
    amountMinor: z.int().min(0),
    currency: z.string().regex(/^[A-Z]{3}$/),
  }),
});
export type PaymentWebhookBody = z.infer<typeof paymentWebhookBody>;

/** What became of a payment event; the answer says it, so that a provider's log shows it. */
export const paymentOutcomes = ['paid', 'duplicate', 'refund_pending', 'quarantined', 'ignored'] as const;
export type PaymentOutcome = (typeof paymentOutcomes)[number];

/** How long a signature is good for, in seconds: older or newer is refused. */
export const webhookToleranceSeconds = 300;

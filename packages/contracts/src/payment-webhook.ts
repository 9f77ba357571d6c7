import { z } from 'zod';
import { lowerCaseUuid, orderId } from './ids.ts';
import { instant } from './instant.ts';

/** What MySQL keeps byte for byte; two ids that differ stay two. The same as is asked of a provider's answers. */
const plainText = (lengthMax: number) =>
  z
    .string()
    .regex(
      new RegExp(`^[\\x21-\\x7e]{1,${lengthMax}}$`),
      `must be 1 to ${lengthMax} printable ASCII characters`,
    );

/**
 * Body of `POST /v1/payments/webhook`, signed per the Standard Webhooks specification: the headers
 * `webhook-id`, `webhook-timestamp` and `webhook-signature` cover it. `webhook-id` is the event's identity.
 */
export const paymentWebhookBody = z.strictObject({
  type: z.enum(['payment.captured', 'payment.failed']),
  timestamp: instant.describe('When it happened at the provider.'),
  data: z.strictObject({
    paymentId: plainText(128),
    orderId,
    amountMinor: z.int().min(0),
    currency: z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters, such as "CNY"'),
    providerRef: plainText(255)
      .optional()
      .describe("The provider's id of the attempt, where the payment began with one."),
    attemptId: z.uuid().optional().describe('Our id of that attempt, as it was given to the provider.'),
  }),
});
export type PaymentWebhookBody = z.infer<typeof paymentWebhookBody>;

/** To the same address: a refund that the provider had taken will not arrive. */
export const refundFailedWebhookBody = z.strictObject({
  type: z.literal('payment.refund_failed'),
  timestamp: instant.describe('When it happened at the provider.'),
  data: z.strictObject({
    paymentId: plainText(128),
    refundId: lowerCaseUuid.describe('Our id of the refund: the idempotency key that it was asked for with.'),
    refundRef: plainText(255).optional().describe("The provider's own id of the refund."),
    reason: z.string().max(255).optional(),
  }),
});
export type RefundFailedWebhookBody = z.infer<typeof refundFailedWebhookBody>;

const paymentEventTypes: readonly string[] = [
  ...paymentWebhookBody.shape.type.options,
  refundFailedWebhookBody.shape.type.value,
];

/** An event that means nothing to an order. A provider that learns to send more of them must not meet a 400. */
export const otherWebhookBody = z.looseObject({
  type: z
    .string()
    .min(1)
    .max(128)
    .refine((type) => !paymentEventTypes.includes(type), 'is a payment event, whose shape is fixed'),
});

/** What became of a payment event; the answer says it, so that a provider's log shows it. */
export const paymentOutcomes = [
  'paid',
  'reacquired',
  'duplicate',
  'refund_pending',
  'refunded',
  'quarantined',
  'kept',
  'refund_failed',
  'ignored',
] as const;
export type PaymentOutcome = (typeof paymentOutcomes)[number];

/** How long a signature is good for, in seconds: older or newer is refused. */
export const webhookToleranceSeconds = 300;

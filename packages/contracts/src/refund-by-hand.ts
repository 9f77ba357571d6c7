import { z } from 'zod';
import { operatorReason, orderId } from './ids.ts';

/** Body of `POST /v1/ops/refunds/:id/paid-by-hand`. */
export const refundPaidByHandBody = z.strictObject({
  reference: z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters without spaces')
    .optional()
    .describe('What the bank or the provider calls the transfer.'),
  reason: operatorReason,
});

/** Money that was owed, and that a person has paid back. */
export const refundPaidByHandView = z.object({
  id: z.int(),
  state: z.literal('REFUNDED'),
  orderId,
  paymentId: z.string(),
  amountMinor: z.int(),
  currency: z.string(),
  refundRef: z.string(),
});
export type RefundPaidByHandView = z.infer<typeof refundPaidByHandView>;

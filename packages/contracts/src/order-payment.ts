import { z } from 'zod';
import { orderId } from './ids.ts';

/** Answer of `POST /v1/orders/:id/payments`: where the buyer pays. One of the two last is there. */
export const orderPaymentView = z.object({
  attemptId: z.uuid().describe('The same for a repeat, until the attempt has ended.'),
  orderId,
  amountMinor: z.int(),
  currency: z.string(),
  expiresAt: z.iso.datetime().describe('From then on the attempt is cancelled at the provider.'),
  payUrl: z.string().nullable().describe("The provider's page to pay at."),
  clientSecret: z.string().nullable().describe("For the provider's own form in the shop's page."),
});
export type OrderPaymentView = z.infer<typeof orderPaymentView>;

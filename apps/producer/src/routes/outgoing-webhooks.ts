import { buyerNotice, buyerNoticeExample, shopEvent, shopEventExample } from '@lapse/contracts';
import { z } from 'zod';

const signed =
  'Signed per Standard Webhooks: verify `webhook-signature` over `webhook-id.webhook-timestamp.body` with the raw body, and refuse a timestamp that is not near. `webhook-id` is the same over all deliveries of one thing: drop what you have seen. Answer 2xx once you have it; anything else is tried again.';

/** What is posted to others, for the `webhooks` of the OpenAPI description. */
export const outgoingWebhooks = {
  shopEvent: describe(
    "Something happened to an order: to the shop's own systems",
    `To LAPSE_SHOP_WEBHOOK_URL, with LAPSE_SHOP_WEBHOOK_SECRET. At least once, and for each order in order: the next event of an order waits until the one before it was taken. ${signed}`,
    shopEvent,
    shopEventExample,
  ),
  buyerNotice: describe(
    'Tell a buyer: to your service that sends messages',
    `To LAPSE_NOTIFY_WEBHOOK_URL, with LAPSE_NOTIFY_WEBHOOK_SECRET, where LAPSE_NOTIFY_CHANNEL=webhook. ${signed}`,
    buyerNotice,
    buyerNoticeExample,
  ),
};

function describe(
  summary: string,
  description: string,
  shape: z.ZodType,
  example: unknown,
): Record<never, never> {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(shape);
  const header = (name: string) => ({
    name,
    in: 'header' as const,
    required: true,
    schema: { type: 'string' as const },
  });
  const post = {
    summary,
    description,
    tags: ['webhooks'],
    parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(header),
    requestBody: { required: true, content: { 'application/json': { schema, example } } },
    responses: { '2XX': { description: 'Taken: it is not sent again.' } },
  };
  // No more than an object to the compiler: zod writes what OpenAPI 3.1 takes, but their types do not know each other.
  return { post };
}

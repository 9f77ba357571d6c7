import { paymentOutcomes, paymentWebhookBody, refundFailedWebhookBody } from '@lapse/contracts';
import { WebhookBodyError } from '@lapse/payments';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ApiDependencies } from '../api-dependencies.ts';
import { countUnreadable, refuseUnsigned } from '../limit-requests.ts';
import { takePayment } from '../payment-webhook.ts';
import { sendProblem } from '../problem-reply.ts';
import { problemResponses } from './problem-responses.ts';

const outcomes = {
  200: z.object({ outcome: z.enum(paymentOutcomes) }),
  ...problemResponses('INVALID_REQUEST', 'SIGNATURE_INVALID', 'UNAVAILABLE'),
};
const outcomesInWords =
  'Every outcome is final for the provider: it need not send the event again. `kept`: the order is not written yet, and the payment is applied once it is. Repeats are harmless.';

/**
 * The payment provider's events. A plugin of its own, because its body parser keeps the raw text: the
 * signature covers those bytes. Nothing in the body is looked at before the signature is known to be good. Requests are
 * not limited by address; what is refused counts there: a wrong signature, and what cannot be read as far as that.
 */
export const paymentRoutes: FastifyPluginAsyncZod<ApiDependencies> = async (app, dependencies) => {
  const { log, payments } = dependencies;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    done(null, text);
  });
  // The provider's own check reads the body, after its signature; the schemas below only describe it.
  app.setValidatorCompiler(() => (data) => ({ value: data }));

  app.setErrorHandler(countUnreadable(dependencies.limits));

  const take = async (request: FastifyRequest, reply: FastifyReply) => {
    const rawBody: unknown = request.body;
    const { headers } = request;
    try {
      const event = payments.verifyWebhook({ rawBody: typeof rawBody === 'string' ? rawBody : '', headers });
      if (event) return { outcome: await takePayment(dependencies, event) };
    } catch (error) {
      if (!(error instanceof WebhookBodyError)) throw error;
      log.error({ err: error, requestId: request.id }, 'a signed payment event cannot be read');
      return sendProblem(reply, { code: 'INVALID_REQUEST', errors: error.errors });
    }
    return refuseUnsigned(dependencies.limits, request, reply);
  };

  app.post(
    '/v1/payments/webhook',
    {
      schema: {
        operationId: 'paymentWebhook',
        summary: 'Events of the payment provider, signed per Standard Webhooks',
        description: `Headers webhook-id, webhook-timestamp, webhook-signature. ${outcomesInWords}`,
        tags: ['payments'],
        security: [{ webhookSignature: [] }],
        body: z.union([paymentWebhookBody, refundFailedWebhookBody]),
        response: outcomes,
      },
    },
    take,
  );

  app.post(
    '/v1/payments/stripe/webhook',
    {
      schema: {
        operationId: 'stripeWebhook',
        summary: "Stripe's events, signed by Stripe",
        description: `Header stripe-signature; for LAPSE_PAYMENT_PROVIDER=stripe. ${outcomesInWords}`,
        tags: ['payments'],
        response: outcomes,
      },
    },
    take,
  );
};

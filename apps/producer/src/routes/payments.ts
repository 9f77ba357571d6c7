import { paymentOutcomes, paymentWebhookBody } from '@lapse/contracts';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ApiDependencies } from '../api-dependencies.ts';
import { refuseUnsigned } from '../limit-requests.ts';
import { openSignatureCheck, takePayment } from '../payment-webhook.ts';
import { sendProblem } from '../problem-reply.ts';
import { problemResponses } from './problem-responses.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Id of the verified event; set by the payment route alone. */
    webhookId: string;
  }
}

/**
 * The payment provider's events. A plugin of its own, because its body parser keeps the raw text: the
 * signature covers those bytes. Nothing in the body is looked at before the signature is known to be good.
 */
export const paymentRoutes: FastifyPluginAsyncZod<ApiDependencies> = async (app, dependencies) => {
  const verify = openSignatureCheck(dependencies.webhookSecret);
  app.decorateRequest('webhookId', '');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    done(null, text);
  });
  const parseJson = app.getDefaultJsonParser('error', 'error');

  app.post(
    '/v1/payments/webhook',
    {
      config: { isSigned: true },
      // After the body is read and before it is validated.
      preValidation: async (request, reply) => {
        const rawBody = typeof request.body === 'string' ? request.body : '';
        const webhookId = verify({ rawBody, headers: request.headers });
        if (webhookId === undefined) return refuseUnsigned(dependencies.limits, request, reply);
        request.webhookId = webhookId;
        (request as FastifyRequest).body = await parseVerified(request, rawBody);
        return undefined;
      },
      schema: {
        operationId: 'paymentWebhook',
        summary: 'Events of the payment provider, signed per Standard Webhooks',
        description:
          'Headers webhook-id, webhook-timestamp, webhook-signature. Repeats are harmless. 404 asks the provider to send it again: the order may not be written yet.',
        tags: ['payments'],
        security: [{ webhookSignature: [] }],
        body: paymentWebhookBody,
        response: {
          200: z.object({ outcome: z.enum(paymentOutcomes) }),
          ...problemResponses('INVALID_REQUEST', 'SIGNATURE_INVALID', 'ORDER_NOT_FOUND', 'UNAVAILABLE'),
        },
      },
    },
    async (request, reply) => {
      const outcome = await takePayment(dependencies, request.webhookId, request.body);
      return outcome === undefined ? sendProblem(reply, { code: 'ORDER_NOT_FOUND' }) : { outcome };
    },
  );

  /** Fastify's own parser: the same refusals as everywhere, `__proto__` among them. */
  function parseVerified(request: FastifyRequest, text: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      void parseJson(request, text, (error, body) => (error ? reject(error) : resolve(body)));
    });
  }
};

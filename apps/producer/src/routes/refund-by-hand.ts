import { idempotencyKey, refundPaidByHandBody, refundPaidByHandView } from '@lapse/contracts';
import { markRefundPaid } from '@lapse/operations';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ApiDependencies } from '../api-dependencies.ts';
import { operatorRequest, sendStored } from '../operator-answer.ts';
import { sendProblem } from '../problem-reply.ts';
import { requireIdentity } from '../require-identity.ts';
import { problemResponses } from './problem-responses.ts';

const refundPath = z.object({
  id: z
    .string()
    .regex(/^[1-9][0-9]{0,14}$/, 'must be the number of a refund')
    .transform(Number),
});

/** Refunds that a person has paid. Operators only; each is noted with its actor and reason. */
export const refundByHandRoutes: FastifyPluginAsyncZod<ApiDependencies> = async (app, dependencies) => {
  app.addHook('onRequest', requireIdentity(dependencies.authenticate, 'operator'));

  app.post(
    '/v1/ops/refunds/:id/paid-by-hand',
    {
      schema: {
        operationId: 'markRefundPaid',
        summary: 'Note that a refund was paid by hand: no provider is asked for it any more',
        description:
          'Pay first, then mark. For a refund that is owed and that nobody here can pay: no provider is set up, another one took the money, or the provider refuses because it went back already. With an Idempotency-Key a repeat gets the first answer for at least 24 hours.',
        tags: ['operations'],
        security: [{ bearer: [] }],
        params: refundPath,
        headers: z.object({ 'idempotency-key': idempotencyKey.optional() }),
        body: refundPaidByHandBody,
        response: {
          200: refundPaidByHandView,
          ...problemResponses(
            ...(['INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN', 'REFUND_NOT_FOUND'] as const),
            ...(['REFUND_NOT_OWED', 'REFUND_IN_PROGRESS'] as const),
            ...(['IDEMPOTENCY_KEY_REUSED', 'UNAVAILABLE'] as const),
          ),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const { reference = null, reason } = request.body;
      const key = request.headers['idempotency-key'];
      const asked = operatorRequest(request, key, reason, [id, reference, reason]);
      const answer = await markRefundPaid(dependencies, { id, reference }, asked);
      return answer.kind === 'refused'
        ? sendProblem(reply, answer.problem)
        : sendStored(reply, answer.answer, answer.kind);
    },
  );
};

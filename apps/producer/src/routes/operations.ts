import { extendOrderBody, idempotencyKey, orderView } from '@lapse/contracts';
import { extendOrder, toOrderView, tryExtend } from '@lapse/operations';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ApiDependencies } from '../api-dependencies.ts';
import { operatorRequest, sendStored } from '../operator-answer.ts';
import { orderPath } from '../path-ids.ts';
import { sendProblem } from '../problem-reply.ts';
import { requireIdentity } from '../require-identity.ts';
import { problemResponses } from './problem-responses.ts';

/** What an operator does by hand to orders. Every change is noted with its actor and reason. */
export const operationRoutes: FastifyPluginAsyncZod<ApiDependencies> = async (app, dependencies) => {
  app.addHook('onRequest', requireIdentity(dependencies.authenticate, 'operator'));

  app.post(
    '/v1/orders/:id/extend',
    {
      schema: {
        operationId: 'extendOrder',
        summary:
          'Give a pending order more time: moves its deadline, and its reminder if that is still to come',
        description:
          'A deadline moves to a later time only, at most 30 days after the order was placed. With `dryRun` nothing is changed. With an Idempotency-Key a repeat gets the first answer for at least 24 hours.',
        tags: ['operations'],
        security: [{ bearer: [] }],
        params: orderPath,
        headers: z.object({ 'idempotency-key': idempotencyKey.optional() }),
        body: extendOrderBody,
        response: {
          200: orderView,
          ...problemResponses(
            ...(['INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN', 'ORDER_NOT_FOUND'] as const),
            ...(['ORDER_NOT_PENDING', 'DEADLINE_NOT_LATER', 'DEADLINE_TOO_LATE'] as const),
            ...(['IDEMPOTENCY_KEY_REUSED', 'UNAVAILABLE'] as const),
          ),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const { byMs, until, reason, dryRun } = request.body;
      const extension = until === undefined ? { byMs: byMs ?? 0 } : { until: new Date(until) };
      if (dryRun) {
        const tried = await tryExtend(dependencies.orders, id, extension);
        return tried.kind === 'refused' ? sendProblem(reply, tried.problem) : toOrderView(tried.order);
      }
      const key = request.headers['idempotency-key'];
      const asked = operatorRequest(request, key, reason, [id, extension, reason]);
      const answer = await extendOrder(dependencies, id, extension, asked);
      return answer.kind === 'refused'
        ? sendProblem(reply, answer.problem)
        : sendStored(reply, answer.answer, answer.kind);
    },
  );
};

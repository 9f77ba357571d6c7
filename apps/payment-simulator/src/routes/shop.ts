import {
  simulatorAttempt,
  simulatorAttemptBody,
  simulatorRefund,
  simulatorRefundBody,
} from '@lapse/contracts';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Dependencies } from '../dependencies.ts';
import { refusalView, refuse } from '../refusals.ts';
import { spoilAnswers } from '../spoil-answers.ts';
import { attemptView, refundView } from '../views.ts';

const headers = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/)
    .optional(),
});
const params = z.object({ ref: z.string().max(64) });

/** What a shop calls, and what misbehaves when it is told to. */
export const shopRoutes: FastifyPluginAsyncZod<Dependencies> = async (
  app,
  { bank, books, faults, pageUrl },
) => {
  spoilAnswers(app, () => faults.current);
  const attemptSchema = {
    params,
    response: { 200: simulatorAttempt, '4xx': refusalView, '5xx': refusalView },
  };

  app.post(
    '/v1/attempts',
    { schema: { ...attemptSchema, params: z.object({}), headers, body: simulatorAttemptBody } },
    async (request, reply) => {
      const answer = bank.openAttempt(request.headers['idempotency-key'] ?? null, request.body);
      return answer.kind === 'done' ? attemptView(answer.value, pageUrl()) : refuse(reply, answer.kind);
    },
  );

  app.get('/v1/attempts/:ref', { schema: attemptSchema }, async (request, reply) => {
    const attempt = books.attempts.get(request.params.ref);
    return attempt ? attemptView(attempt, pageUrl()) : refuse(reply, 'NOT_FOUND');
  });

  app.post('/v1/attempts/:ref/cancel', { schema: attemptSchema }, async (request, reply) => {
    const answer = bank.cancel(request.params.ref);
    return answer.kind === 'done' ? attemptView(answer.value, pageUrl()) : refuse(reply, answer.kind);
  });

  app.post(
    '/v1/refunds',
    {
      schema: {
        headers,
        body: simulatorRefundBody,
        response: { 200: simulatorRefund, '4xx': refusalView, '5xx': refusalView },
      },
    },
    async (request, reply) => {
      const answer = bank.refund(request.headers['idempotency-key'] ?? null, request.body);
      return answer.kind === 'done' ? refundView(answer.value) : refuse(reply, answer.kind);
    },
  );
};

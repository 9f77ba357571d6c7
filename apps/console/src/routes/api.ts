import { activityId, idempotencyKey, lowerCaseUuid, orderId } from '@lapse/contracts';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ConsoleDependencies } from '../console-dependencies.ts';
import { requireSession, sessionOf } from '../session-cookie.ts';

const params = z.object({
  id: z.union([orderId, lowerCaseUuid, z.coerce.number().pipe(activityId)]).optional(),
});
const headers = z.looseObject({
  'idempotency-key': idempotencyKey.optional(),
  'accept-language': z.string().max(200).optional(),
});
/** Of the lists: where a page begins, and what of. */
const query = z.strictObject({
  after: z.string().max(64).optional(),
  before: z.string().max(64).optional(),
  limit: z.string().max(4).optional(),
  kind: z.string().max(32).optional(),
  state: z.string().max(32).optional(),
});

/** The few calls that the page makes; the same path below `/v1` at the API. */
const buyerCalls = [
  ['POST', '/activities/:id/orders'],
  ['GET', '/orders/:id/timeline'],
  ['POST', '/orders/:id/payments'],
  ['POST', '/orders/:id/cancel'],
] as const;
const operatorCalls = [
  ['POST', '/orders/:id/extend'],
  ['POST', '/workers/:id/pause'],
  ['POST', '/workers/:id/resume'],
  ['POST', '/activities/:id/pause'],
  ['POST', '/activities/:id/resume'],
  ['GET', '/ops/findings'],
  ['GET', '/ops/parked'],
  ['GET', '/ops/refunds'],
  ['GET', '/ops/undelivered'],
  ['POST', '/ops/parked/redrive'],
  ['POST', '/ops/parked/drop'],
  ['POST', '/ops/refunds/pay'],
  ['POST', '/ops/undelivered/resend'],
] as const;

/**
 * Pass a call on to the API with the session's token, and its answer back as it is. The API decides; here it is only
 * said which calls there are, so that a fault in the page reaches no other.
 */
export const apiRoutes: FastifyPluginAsyncZod<ConsoleDependencies> = async (app, { call }) => {
  const pass = (method: 'GET' | 'POST', path: string, kind?: 'operator'): void => {
    app.route({
      method,
      url: `/api${path}`,
      onRequest: requireSession(kind),
      schema: { params, headers, querystring: query },
      handler: async (request, reply) => {
        const { id } = request.params;
        const search = searchOf(request.query);
        const key = request.headers['idempotency-key'];
        const language = request.headers['accept-language'];
        const answer = await call({
          method,
          path: `/v1${path.replace(':id', String(id))}${search}`,
          token: sessionOf(request).token,
          ...(method === 'POST' && { body: request.body ?? {} }),
          headers: {
            ...(key !== undefined && { 'idempotency-key': key }),
            ...(language !== undefined && { 'accept-language': language }),
          },
        });
        if (answer.retryAfter !== null) reply.header('retry-after', answer.retryAfter);
        return reply.code(answer.status).type(answer.contentType).send(answer.body);
      },
    });
  };
  for (const [method, path] of buyerCalls) pass(method, path);
  for (const [method, path] of operatorCalls) pass(method, path, 'operator');
};

function searchOf(given: Readonly<Record<string, string | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) search.set(name, value);
  return search.size === 0 ? '' : `?${search}`;
}

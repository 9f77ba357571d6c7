import {
  deliveryKinds,
  effectOutcomes,
  leftEffectList,
  redriveEffectsBody,
  resendBody,
  resendOutcomes,
  undeliveredList,
} from '@lapse/contracts';
import { toLeftEffectView, toUndeliveredView } from '@lapse/operations';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ApiDependencies } from '../api-dependencies.ts';
import { requireIdentity } from '../require-identity.ts';
import { afterNumber, nextOf, pageLimit, rowUuid } from './page-query.ts';
import { problemResponses } from './problem-responses.ts';
import { settleByHand, settleRefusals, settleSchema } from './settle-by-hand.ts';

const undeliveredQuery = z.strictObject({
  kind: z.enum(deliveryKinds).default('notification'),
  after: afterNumber,
  limit: pageLimit,
});
const effectQuery = z.strictObject({ after: rowUuid.optional(), limit: pageLimit });

const shared = { tags: ['operations'], security: [{ bearer: [] }] };
const refusals = problemResponses('INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN', 'UNAVAILABLE');

/** What buyers and the shop were not told, after all tries; and to try again. Operators only. */
export const undeliveredRoutes: FastifyPluginAsyncZod<ApiDependencies> = async (
  app,
  { authenticate, orders },
) => {
  app.addHook('onRequest', requireIdentity(authenticate, 'operator'));

  app.get(
    '/v1/ops/undelivered',
    {
      schema: {
        ...shared,
        operationId: 'listUndelivered',
        summary: 'Notices to buyers, or events for the shop, that were given up; oldest first',
        querystring: undeliveredQuery,
        response: { 200: undeliveredList, ...refusals },
      },
    },
    async ({ query }) => {
      const { kind, after: afterId, limit } = query;
      const page = await orders.listUndelivered(kind, { afterId, limit });
      return { undelivered: page.map((each) => toUndeliveredView(kind, each)), next: nextOf(page, limit) };
    },
  );

  app.post(
    '/v1/ops/undelivered/resend',
    {
      schema: {
        ...settleSchema,
        operationId: 'resendUndelivered',
        summary: 'Have given-up notices or events delivered, with all their tries again',
        body: resendBody,
        response: { 200: resendOutcomes, ...settleRefusals },
      },
    },
    async (request, reply) => {
      const { kind, ids } = request.body;
      return settleByHand(
        request,
        reply,
        resendOutcomes,
        (options, answer) => orders.resendUndelivered(kind, ids, options, answer),
        [kind],
      );
    },
  );

  app.get(
    '/v1/ops/effects',
    {
      schema: {
        ...shared,
        operationId: 'listLeftEffects',
        summary: 'Notices and events that could not even be written, after all tries; oldest first',
        querystring: effectQuery,
        response: { 200: leftEffectList, ...refusals },
      },
    },
    async ({ query: { after, limit } }) => {
      const page = await orders.listLeftEffects({
        limit,
        ...(after === undefined ? {} : { afterId: after }),
      });
      return { effects: page.map(toLeftEffectView), next: nextOf(page, limit) };
    },
  );

  app.post(
    '/v1/ops/effects/redrive',
    {
      schema: {
        ...settleSchema,
        operationId: 'redriveEffects',
        summary: 'Have such notices and events written, with all their tries again',
        body: redriveEffectsBody,
        response: { 200: effectOutcomes, ...settleRefusals },
      },
    },
    async (request, reply) =>
      settleByHand(request, reply, effectOutcomes, (options, answer) =>
        orders.redriveEffects(request.body.ids, options, answer),
      ),
  );
};

import {
  activityList,
  activityView,
  changeCapacityBody,
  createActivityBody,
  idempotencyKey,
} from '@lapse/contracts';
import { changeCapacity, openActivity, type Problem, toActivityView } from '@lapse/operations';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { activityFreshMs } from '../activity-cache.ts';
import type { ApiDependencies } from '../api-dependencies.ts';
import { operatorRequest, sendStored } from '../operator-answer.ts';
import { activityPage, activityPath } from '../path-ids.ts';
import { sendProblem } from '../problem-reply.ts';
import { requireIdentity } from '../require-identity.ts';
import { problemResponses } from './problem-responses.ts';

/** So that an operator who got no answer may ask again. */
const operatorHeaders = z.object({ 'idempotency-key': idempotencyKey.optional() });

/** No provider takes a payment of nothing, so every order would close unpaid. */
const freeIsNotForSale: Problem = {
  code: 'INVALID_REQUEST',
  errors: [{ field: 'body.priceMinor', message: 'must be above 0 where a payment provider is set up' }],
};

/** Activities: an operator opens them and changes their capacity, anyone reads them. */
export const activityRoutes: FastifyPluginAsyncZod<ApiDependencies> = async (app, dependencies) => {
  const { authenticate, create, log, orders, payments, stock } = dependencies;

  app.post(
    '/v1/activities',
    {
      onRequest: requireIdentity(authenticate, 'operator'),
      schema: {
        operationId: 'createActivity',
        summary: 'Open an activity: what is sold, how long a buyer may take to pay',
        tags: ['activities'],
        description:
          'Where a payment provider is set up the price is above 0. With an Idempotency-Key a repeat gets the first answer for at least 24 hours.',
        security: [{ bearer: [] }],
        headers: operatorHeaders,
        body: createActivityBody,
        response: {
          201: activityView,
          ...problemResponses(
            ...(['INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN'] as const),
            ...(['IDEMPOTENCY_KEY_REUSED', 'UNAVAILABLE'] as const),
          ),
        },
      },
    },
    async (request, reply) => {
      const { body, headers } = request;
      if (body.priceMinor === 0 && payments.provider) return sendProblem(reply, freeIsNotForSale);
      const asked = operatorRequest(request, headers['idempotency-key'], '', [body]);
      const opened = await openActivity({ orders, stock, log }, body, asked);
      if (opened.kind === 'key_reused') return sendProblem(reply, { code: 'IDEMPOTENCY_KEY_REUSED' });
      if (opened.kind === 'refused') throw new Error('an activity was refused');
      const { id } = JSON.parse(opened.answer.body.toString());
      create.activities.forget(id);
      return sendStored(reply.header('location', `/v1/activities/${id}`), opened.answer, opened.kind);
    },
  );

  app.patch(
    '/v1/activities/:id',
    {
      onRequest: requireIdentity(authenticate, 'operator'),
      schema: {
        operationId: 'changeCapacity',
        summary: 'Change how many places an activity has, while it sells',
        description:
          'Never below what is held and sold. With an Idempotency-Key a repeat gets the first answer for at least 24 hours.',
        tags: ['activities'],
        security: [{ bearer: [] }],
        params: activityPath,
        headers: operatorHeaders,
        body: changeCapacityBody,
        response: {
          200: activityView,
          ...problemResponses(
            ...(['INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN', 'ACTIVITY_NOT_FOUND'] as const),
            ...([
              'ACTIVITY_ARCHIVED',
              'CAPACITY_BELOW_SOLD',
              'IDEMPOTENCY_KEY_REUSED',
              'UNAVAILABLE',
            ] as const),
          ),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const { capacity, reason } = request.body;
      const key = request.headers['idempotency-key'];
      const asked = operatorRequest(request, key, reason, [id, capacity, reason]);
      const { activities } = create;
      const answer = await changeCapacity({ orders, stock, activities, log }, id, capacity, asked);
      return answer.kind === 'refused'
        ? sendProblem(reply, answer.problem)
        : sendStored(reply, answer.answer, answer.kind);
    },
  );

  app.get(
    '/v1/activities',
    {
      schema: {
        operationId: 'listActivities',
        summary: 'List activities by number, a page at a time',
        tags: ['activities'],
        querystring: activityPage,
        response: { 200: activityList, ...problemResponses('INVALID_REQUEST', 'UNAVAILABLE') },
      },
    },
    async (request, reply) => {
      const { after, limit } = request.query;
      const page = await orders.listActivities({ afterId: after, limit });
      reply.header('cache-control', `public, max-age=${activityFreshMs / 1_000}`);
      const next = page.length < limit ? null : (page.at(-1)?.id ?? null);
      return { activities: page.map(toActivityView), next };
    },
  );

  app.get(
    '/v1/activities/:id',
    {
      schema: {
        operationId: 'readActivity',
        summary: 'Read an activity and its count of free places',
        description: 'The count may be a second old.',
        tags: ['activities'],
        params: activityPath,
        response: {
          200: activityView,
          ...problemResponses('INVALID_REQUEST', 'ACTIVITY_NOT_FOUND', 'UNAVAILABLE'),
        },
      },
    },
    async (request, reply) => {
      const activity = await create.activities.read(request.params.id);
      if (!activity) return sendProblem(reply, { code: 'ACTIVITY_NOT_FOUND' });
      reply.header('cache-control', `public, max-age=${activityFreshMs / 1_000}`);
      return toActivityView(activity);
    },
  );
};

import { activityView, createActivityBody } from '@lapse/contracts';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { activityFreshMs } from '../activity-cache.ts';
import type { ApiDependencies } from '../api-dependencies.ts';
import { openActivity } from '../open-activity.ts';
import { toActivityView } from '../order-view.ts';
import { activityPath } from '../path-ids.ts';
import { sendProblem } from '../problem-reply.ts';
import { requireIdentity } from '../require-identity.ts';
import { problemResponses } from './problem-responses.ts';

/** Activities: an operator opens them, anyone reads them. */
export const activityRoutes: FastifyPluginAsyncZod<ApiDependencies> = async (app, dependencies) => {
  const { authenticate, create, log, orders, stock } = dependencies;

  app.post(
    '/v1/activities',
    {
      onRequest: requireIdentity(authenticate, 'operator'),
      schema: {
        operationId: 'createActivity',
        summary: 'Open an activity: what is sold, how long a buyer may take to pay',
        tags: ['activities'],
        security: [{ bearer: [] }],
        body: createActivityBody,
        response: {
          201: activityView,
          ...problemResponses('INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN', 'UNAVAILABLE'),
        },
      },
    },
    async (request, reply) => {
      const activity = await openActivity({ orders, stock, log }, request.body);
      create.activities.forget(activity.id);
      return reply
        .code(201)
        .header('location', `/v1/activities/${activity.id}`)
        .send(toActivityView(activity));
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

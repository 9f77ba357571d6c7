import { activityPauseView, pauseBody, workerList, workerPauseView } from '@lapse/contracts';
import { directWorker, pauseActivity, toWorkerView } from '@lapse/operations';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ApiDependencies } from '../api-dependencies.ts';
import { operatorRequest, sendStored } from '../operator-answer.ts';
import { activityPath } from '../path-ids.ts';
import { sendProblem } from '../problem-reply.ts';
import { requireIdentity } from '../require-identity.ts';
import { rowUuid } from './page-query.ts';
import { problemResponses } from './problem-responses.ts';
import { settleSchema } from './settle-by-hand.ts';

const workerPath = z.object({ id: rowUuid });
const shared = {
  ...settleSchema,
  description:
    'A dry run unless `dryRun` is false. Idempotent: what is so already is left alone. With an Idempotency-Key a repeat gets the first answer for at least 24 hours; a dry run uses up no key.',
};
const operatorOnly = ['INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN'] as const;
const changeProblems = [...operatorOnly, 'IDEMPOTENCY_KEY_REUSED', 'UNAVAILABLE'] as const;

const pauses = [
  { verb: 'pause', paused: true },
  { verb: 'resume', paused: false },
] as const;

/** Which processes there are; to pause one of them, or the sale of one activity. Operators only. */
export const pauseRoutes: FastifyPluginAsyncZod<ApiDependencies> = async (app, dependencies) => {
  const { authenticate, create, orders } = dependencies;
  app.addHook('onRequest', requireIdentity(authenticate, 'operator'));

  app.get(
    '/v1/workers',
    {
      schema: {
        operationId: 'listWorkers',
        summary: 'Every process of the last hour: whether it is alive, what it does, how it is',
        description: 'Those that are alive first; at most 500, those heard of last.',
        tags: ['operations'],
        security: [{ bearer: [] }],
        response: { 200: workerList, ...problemResponses(...operatorOnly, 'UNAVAILABLE') },
      },
    },
    async () => ({ workers: (await orders.listWorkers()).map(toWorkerView) }),
  );

  for (const { verb, paused } of pauses) {
    app.post(
      `/v1/workers/:id/${verb}`,
      {
        schema: {
          ...shared,
          operationId: `${verb}Worker`,
          summary: paused
            ? 'Have a process finish what it has in hand and take nothing new'
            : 'Have a paused process go on',
          params: workerPath,
          body: pauseBody,
          response: {
            200: workerPauseView,
            ...problemResponses(...changeProblems, 'WORKER_NOT_FOUND', 'WORKER_STOPPED'),
          },
        },
      },
      async (request, reply) => {
        const { id } = request.params;
        const { dryRun, reason } = request.body;
        const asked = operatorRequest(request, request.headers['idempotency-key'], reason, [
          id,
          dryRun,
          reason,
        ]);
        const options = { ...asked, dryRun };
        const answer = await directWorker(dependencies, id, paused ? 'PAUSE' : 'RUN', options);
        return answer.kind === 'refused'
          ? sendProblem(reply, answer.problem)
          : sendStored(reply, answer.answer, answer.kind);
      },
    );

    app.post(
      `/v1/activities/:id/${verb}`,
      {
        schema: {
          ...shared,
          operationId: `${verb}Activity`,
          summary: paused
            ? 'Have new orders of an activity refused with SALE_PAUSED, within a second; all else goes on'
            : 'Have new orders of an activity taken again',
          params: activityPath,
          body: pauseBody,
          response: {
            200: activityPauseView,
            ...problemResponses(...changeProblems, 'ACTIVITY_NOT_FOUND', 'ACTIVITY_ARCHIVED'),
          },
        },
      },
      async (request, reply) => {
        const { id } = request.params;
        const { dryRun, reason } = request.body;
        const asked = operatorRequest(request, request.headers['idempotency-key'], reason, [
          id,
          dryRun,
          reason,
        ]);
        const { activities } = create;
        const answer = await pauseActivity({ orders, activities }, id, paused, { ...asked, dryRun });
        return answer.kind === 'refused'
          ? sendProblem(reply, answer.problem)
          : sendStored(reply, answer.answer, answer.kind);
      },
    );
  }
};

import {
  findingList,
  orderId,
  parkedKinds,
  parkedList,
  parkedOutcomes,
  parkedStates,
  settleRowsBody,
} from '@lapse/contracts';
import { toFindingView, toParkedView } from '@lapse/operations';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ApiDependencies } from '../api-dependencies.ts';
import { requireIdentity } from '../require-identity.ts';
import { afterNumber, nextOf, pageLimit, rowUuid } from './page-query.ts';
import { problemResponses } from './problem-responses.ts';
import { settleByHand, settleRefusals, settleSchema } from './settle-by-hand.ts';

const parkedQuery = z.strictObject({
  after: afterNumber,
  limit: pageLimit,
  kind: z.enum(parkedKinds).optional(),
  state: z.enum(parkedStates).default('PARKED'),
  orderId: orderId.optional(),
});
const findingQuery = z.strictObject({ before: rowUuid.optional(), limit: pageLimit });

const shared = { tags: ['operations'], security: [{ bearer: [] }] };
const refusals = problemResponses('INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN', 'UNAVAILABLE');

/** What needs a person, and what a person may do about it. Operators only; every change is noted with its reason. */
export const repairRoutes: FastifyPluginAsyncZod<ApiDependencies> = async (app, { authenticate, orders }) => {
  app.addHook('onRequest', requireIdentity(authenticate, 'operator'));

  app.get(
    '/v1/ops/findings',
    {
      schema: {
        ...shared,
        operationId: 'listFindings',
        summary:
          'What the auditor found different between MySQL and Redis, and refunds that failed at the provider; newest first',
        querystring: findingQuery,
        response: { 200: findingList, ...refusals },
      },
    },
    async ({ query }) => {
      const page = { limit: query.limit, ...(query.before === undefined ? {} : { beforeId: query.before }) };
      const findings = await orders.listFindings(page);
      return { findings: findings.map(toFindingView), next: nextOf(findings, query.limit) };
    },
  );

  app.get(
    '/v1/ops/parked',
    {
      schema: {
        ...shared,
        operationId: 'listParked',
        summary: 'Messages and orders that were set aside, oldest first',
        querystring: parkedQuery,
        response: { 200: parkedList, ...refusals },
      },
    },
    async ({ query }) => {
      const { after: afterId, limit, kind, state, orderId: order } = query;
      const filter = {
        state,
        ...(kind === undefined ? {} : { kind }),
        ...(order === undefined ? {} : { orderId: order }),
      };
      const page = await orders.listParked(filter, { afterId, limit });
      return { parked: page.map(toParkedView), next: nextOf(page, limit) };
    },
  );

  for (const [name, summary] of [
    ['redrive', 'Put parked rows back to work, once their cause is gone'],
    ['drop', 'Be done with parked rows without doing anything about them'],
  ] as const) {
    app.post(
      `/v1/ops/parked/${name}`,
      {
        schema: {
          ...settleSchema,
          operationId: `${name}Parked`,
          summary,
          body: settleRowsBody,
          response: { 200: parkedOutcomes, ...settleRefusals },
        },
      },
      async (request, reply) => {
        const settle = name === 'redrive' ? orders.redriveParked : orders.dropParked;
        return settleByHand(request, reply, parkedOutcomes, (options, answer) =>
          settle(request.body.ids, options, answer),
        );
      },
    );
  }
};

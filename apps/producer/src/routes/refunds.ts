import { dismissOutcomes, refundList, refundOutcomes, refundStates, settleRowsBody } from '@lapse/contracts';
import { toRefundView } from '@lapse/operations';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ApiDependencies } from '../api-dependencies.ts';
import { requireIdentity } from '../require-identity.ts';
import { afterNumber, nextOf, pageLimit } from './page-query.ts';
import { problemResponses } from './problem-responses.ts';
import { settleByHand, settleRefusals, settleSchema } from './settle-by-hand.ts';

const refundQuery = z.strictObject({
  after: afterNumber,
  limit: pageLimit,
  state: z.enum(refundStates).default('REFUND_PENDING'),
});

/** Money that came and was not kept. Operators only. */
export const refundRoutes: FastifyPluginAsyncZod<ApiDependencies> = async (app, { authenticate, orders }) => {
  app.addHook('onRequest', requireIdentity(authenticate, 'operator'));

  app.get(
    '/v1/ops/refunds',
    {
      schema: {
        tags: ['operations'],
        security: [{ bearer: [] }],
        operationId: 'listRefunds',
        summary: 'Refunds that are owed, were paid or failed, and quarantined money; oldest first',
        querystring: refundQuery,
        response: {
          200: refundList,
          ...problemResponses('INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN', 'UNAVAILABLE'),
        },
      },
    },
    async ({ query }) => {
      const { after: afterId, limit, state } = query;
      const page = await orders.listRefunds({ state, afterId, limit });
      return { refunds: page.map(toRefundView), next: nextOf(page, limit) };
    },
  );

  app.post(
    '/v1/ops/refunds/pay',
    {
      schema: {
        ...settleSchema,
        operationId: 'payRefunds',
        summary: 'Pay quarantined money back, or make a refund anew that failed at the provider',
        description: `The amount and currency that were captured, once; the settler pays it. A row whose payment is kept or paid back by another row answers \`contradicts\`, and is left alone. ${settleSchema.description}`,
        body: settleRowsBody,
        response: { 200: refundOutcomes, ...settleRefusals },
      },
    },
    async (request, reply) =>
      settleByHand(request, reply, refundOutcomes, (options, answer) =>
        orders.refundPayments(request.body.ids, options, answer),
      ),
  );

  app.post(
    '/v1/ops/refunds/dismiss',
    {
      schema: {
        ...settleSchema,
        operationId: 'dismissRefunds',
        summary: 'Be done with quarantined payments that are no money: the provider told them wrongly',
        description: `Nothing is kept and nothing goes back. Look at the provider first; one that was money after all may still be paid. ${settleSchema.description}`,
        body: settleRowsBody,
        response: { 200: dismissOutcomes, ...settleRefusals },
      },
    },
    async (request, reply) =>
      settleByHand(request, reply, dismissOutcomes, (options, answer) =>
        orders.dismissPayments(request.body.ids, options, answer),
      ),
  );
};

import {
  findingList,
  operationsPageMax,
  orderId,
  type ParkedView,
  parkedKinds,
  parkedList,
  parkedOutcomes,
  parkedStates,
  type RefundView,
  refundList,
  refundStates,
  settleParkedBody,
} from '@lapse/contracts';
import type { Parked, RefundRecord } from '@lapse/order-repository';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ApiDependencies } from '../api-dependencies.ts';
import { identityOf, requireIdentity } from '../require-identity.ts';
import { problemResponses } from './problem-responses.ts';

/** Of a parked message: enough to see what it is. The whole of it is in MySQL. */
const bodyShownMax = 2_000;

const number = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,14})$/, 'must be a whole number')
  .transform(Number);
const limit = number.pipe(z.int().min(1).max(operationsPageMax)).default(operationsPageMax);
const parkedQuery = z.strictObject({
  after: number.default(0),
  limit,
  kind: z.enum(parkedKinds).optional(),
  state: z.enum(parkedStates).default('PARKED'),
  orderId: orderId.optional(),
});
const findingQuery = z.strictObject({
  before: z
    .string()
    .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be the id of a finding')
    .optional(),
  limit,
});

const refundQuery = z.strictObject({
  after: number.default(0),
  limit,
  state: z.enum(refundStates).default('REFUND_PENDING'),
});

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
        summary: 'What the auditor found different between MySQL and Redis, newest first',
        querystring: findingQuery,
        response: { 200: findingList, ...refusals },
      },
    },
    async ({ query }) => {
      const page = { limit: query.limit, ...(query.before === undefined ? {} : { beforeId: query.before }) };
      const findings = await orders.listFindings(page);
      return {
        findings: findings.map(({ at, healedAt, ...finding }) => ({
          ...finding,
          at: at.toISOString(),
          healedAt: healedAt?.toISOString() ?? null,
        })),
        next: findings.length < query.limit ? null : (findings.at(-1)?.id ?? null),
      };
    },
  );

  app.get(
    '/v1/ops/refunds',
    {
      schema: {
        ...shared,
        operationId: 'listRefunds',
        summary: 'Refunds that are owed, or were paid, oldest first',
        querystring: refundQuery,
        response: { 200: refundList, ...refusals },
      },
    },
    async ({ query }) => {
      const { after: afterId, limit, state } = query;
      const page = await orders.listRefunds({ state, afterId, limit });
      return {
        refunds: page.map(toRefundView),
        next: page.length < limit ? null : (page.at(-1)?.id ?? null),
      };
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
      const { after: afterId, kind, state, orderId: order } = query;
      const filter = {
        state,
        ...(kind === undefined ? {} : { kind }),
        ...(order === undefined ? {} : { orderId: order }),
      };
      const page = await orders.listParked(filter, { afterId, limit: query.limit });
      const next = page.length < query.limit ? null : (page.at(-1)?.id ?? null);
      return { parked: page.map(toParkedView), next };
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
          ...shared,
          operationId: `${name}Parked`,
          summary,
          description: 'A dry run unless `dryRun` is false. Idempotent: what is settled is left alone.',
          body: settleParkedBody,
          response: { 200: parkedOutcomes, ...refusals },
        },
      },
      async (request) => {
        const { ids, dryRun, reason } = request.body;
        const options = { dryRun, reason, actor: identityOf(request).userId };
        const settle = name === 'redrive' ? orders.redriveParked : orders.dropParked;
        return { dryRun, outcomes: [...(await settle(ids, options))] };
      },
    );
  }
};

function toRefundView({ receivedAt, refundedAt, nextTryAt, ...refund }: RefundRecord): RefundView {
  return {
    ...refund,
    receivedAt: receivedAt.toISOString(),
    refundedAt: refundedAt?.toISOString() ?? null,
    nextTryAt: nextTryAt?.toISOString() ?? null,
  };
}

function toParkedView({ body, createdAt, settledAt, ...parked }: Parked): ParkedView {
  return {
    ...parked,
    body: body?.subarray(0, bodyShownMax).toString('utf8') ?? null,
    createdAt: createdAt.toISOString(),
    settledAt: settledAt?.toISOString() ?? null,
  };
}

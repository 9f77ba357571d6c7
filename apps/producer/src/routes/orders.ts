import {
  cancelOrderBody,
  createOrderBody,
  idempotencyKey,
  orderPaymentView,
  orderTimeline,
  orderView,
} from '@lapse/contracts';
import { cancelByOperator, toOrderTimeline, toOrderView, tryCancel } from '@lapse/operations';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ApiDependencies } from '../api-dependencies.ts';
import { beginPayment } from '../begin-payment.ts';
import { buyerLocale } from '../buyer-locale.ts';
import { cancelOrder } from '../cancel-order.ts';
import { createOrder } from '../create-order.ts';
import { limitBuyers } from '../limit-requests.ts';
import { operatorRequest, sendStored } from '../operator-answer.ts';
import { activityPath, orderPath } from '../path-ids.ts';
import { sendProblem } from '../problem-reply.ts';
import { identityOf, requireIdentity } from '../require-identity.ts';
import { traceRequest } from '../trace-request.ts';
import { problemResponses } from './problem-responses.ts';

const orderProblems = problemResponses(
  'INVALID_REQUEST',
  'UNAUTHENTICATED',
  'ORDER_NOT_FOUND',
  'UNAVAILABLE',
);
const noReason = {
  code: 'INVALID_REQUEST',
  detail: 'An operator who cancels an order must say why: send {"reason": "…"}.',
  errors: [{ field: 'body.reason', message: 'must be given by an operator' }],
} as const;
const noDryRun = {
  code: 'INVALID_REQUEST',
  detail: 'A dry run is for operators.',
  errors: [{ field: 'body.dryRun', message: 'is for operators' }],
} as const;
/** A pause lasts: whoever asks each second is answered no sooner, and another process may be there at once. */
const processPaused = { code: 'PAUSED', retryAfterSeconds: 5 } as const;
const shared = { tags: ['orders'], security: [{ bearer: [] }] };

/** Orders: a buyer places, reads and cancels their own. Another's order is not found, as if it were not there. */
export const orderRoutes: FastifyPluginAsyncZod<ApiDependencies> = async (app, dependencies) => {
  const { authenticate, create, gate, orders } = dependencies;
  app.addHook('onRequest', requireIdentity(authenticate));

  app.post(
    '/v1/activities/:id/orders',
    {
      onRequest: limitBuyers(dependencies.limits),
      // Its answer is made field by field: to hold it against its schema costs more than to write it.
      serializerCompiler: () => JSON.stringify,
      schema: {
        ...shared,
        operationId: 'createOrder',
        summary: 'Place an order: holds the places until its deadline',
        description: 'The buyer is the token. The same Idempotency-Key and body give the first answer again.',
        params: activityPath,
        headers: z.object({ 'idempotency-key': idempotencyKey }),
        body: createOrderBody,
        response: {
          201: orderView,
          ...problemResponses(
            ...(['INVALID_REQUEST', 'UNAUTHENTICATED', 'NOT_ON_SALE', 'ACTIVITY_NOT_FOUND'] as const),
            ...([
              'ACTIVITY_ARCHIVED',
              'SOLD_OUT',
              'SALE_PAUSED',
              'ALREADY_HOLDING',
              'IDEMPOTENCY_KEY_REUSED',
            ] as const),
            ...(['OVERLOADED', 'PAUSED', 'UNAVAILABLE', 'STOCK_NOT_READY'] as const),
          ),
        },
      },
    },
    async (request, reply) => {
      if (!gate.isOpen()) return sendProblem(reply, processPaused);
      const { userId, locale } = identityOf(request);
      const wanted = {
        activityId: request.params.id,
        userId,
        locale: buyerLocale(locale, request.headers['accept-language']),
        idempotencyKey: request.headers['idempotency-key'],
        body: request.body,
      };
      const answer = await gate.pass(() => createOrder(create, wanted));
      if (answer.kind === 'refused') return sendProblem(reply, answer.problem);
      if (answer.kind === 'replayed') reply.header('idempotent-replayed', 'true');
      reply.code(201).header('location', `/v1/orders/${answer.order.id}`);
      if (answer.kind === 'created') traceRequest(request, reply, answer.order.id);
      return reply.send(answer.order);
    },
  );

  app.get(
    '/v1/orders/:id',
    {
      schema: {
        ...shared,
        operationId: 'readOrder',
        summary: 'Read an order, also one that is in the archive',
        params: orderPath,
        response: { 200: orderView, ...orderProblems },
      },
    },
    async (request, reply) => {
      const { userId, isOperator } = identityOf(request);
      const { id } = request.params;
      const order = await orders.readOrder(id);
      if (!order || !(isOperator || order.userId === userId)) {
        return sendProblem(reply, { code: 'ORDER_NOT_FOUND' });
      }
      return toOrderView(order);
    },
  );

  app.get(
    '/v1/orders/:id/timeline',
    {
      schema: {
        ...shared,
        operationId: 'readOrderTimeline',
        summary: 'Everything that happened to an order, and what is still to come',
        params: orderPath,
        response: { 200: orderTimeline, ...orderProblems },
      },
    },
    async (request, reply) => {
      const { userId, isOperator } = identityOf(request);
      const timeline = await orders.readTimeline(request.params.id);
      if (!timeline || !(isOperator || timeline.order.userId === userId)) {
        return sendProblem(reply, { code: 'ORDER_NOT_FOUND' });
      }
      return toOrderTimeline(timeline, { forOperator: isOperator });
    },
  );

  app.post(
    '/v1/orders/:id/cancel',
    {
      schema: {
        ...shared,
        operationId: 'cancelOrder',
        summary: 'Cancel a pending order: gives its places back. A repeat answers the same',
        description:
          'A buyer cancels their own order, and sends no body. An operator cancels any, and must say why: `{"reason": "…"}`, kept with the change and shown in the timeline; with `dryRun` nothing is changed. With an Idempotency-Key an operator’s repeat gets the first answer for at least 24 hours.',
        params: orderPath,
        headers: z.object({ 'idempotency-key': idempotencyKey.optional() }),
        body: cancelOrderBody,
        response: {
          200: orderView,
          ...orderProblems,
          ...problemResponses('ORDER_NOT_PENDING', 'PAYMENT_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED'),
        },
      },
    },
    async (request, reply) => {
      if (identityOf(request).isOperator) {
        const { id } = request.params;
        const reason = request.body?.reason;
        if (reason === undefined) return sendProblem(reply, noReason);
        if (request.body?.dryRun) {
          const tried = await tryCancel(orders, id);
          return tried.kind === 'refused' ? sendProblem(reply, tried.problem) : toOrderView(tried.order);
        }
        const asked = operatorRequest(request, request.headers['idempotency-key'], reason, [id, reason]);
        const done = await cancelByOperator(dependencies, id, asked);
        return done.kind === 'refused'
          ? sendProblem(reply, done.problem)
          : sendStored(reply, done.answer, done.kind);
      }
      if (request.body?.dryRun) return sendProblem(reply, noDryRun);
      const answer = await cancelOrder(dependencies, request.params.id, identityOf(request).userId);
      return answer.kind === 'refused' ? sendProblem(reply, answer.problem) : toOrderView(answer.order);
    },
  );

  app.post(
    '/v1/orders/:id/payments',
    {
      onRequest: limitBuyers(dependencies.limits),
      schema: {
        ...shared,
        operationId: 'payOrder',
        summary: 'Begin to pay a pending order: answers where. A repeat answers the same attempt',
        description:
          'From now on the order does not close while its payment is being decided: at the deadline the attempt is cancelled at the provider first.',
        params: orderPath,
        response: {
          201: orderPaymentView,
          ...problemResponses(
            ...(['INVALID_REQUEST', 'UNAUTHENTICATED', 'ORDER_NOT_FOUND', 'ORDER_NOT_PENDING'] as const),
            ...(['PAYMENT_IN_PROGRESS', 'PAYMENT_REFUSED'] as const),
            ...(['PAYMENT_UNAVAILABLE', 'UNAVAILABLE'] as const),
          ),
        },
      },
    },
    async (request, reply) => {
      const answer = await beginPayment(dependencies, request.params.id, identityOf(request).userId);
      if (answer.kind === 'refused') return sendProblem(reply, answer.problem);
      return reply.code(201).send(answer.payment);
    },
  );
};

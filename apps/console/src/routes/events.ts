import { orderId } from '@lapse/contracts';
import { addressKey } from '@lapse/rate-limits';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ConsoleDependencies } from '../console-dependencies.ts';
import { clockFrame } from '../fan-out.ts';
import { openStream } from '../open-stream.ts';
import { sendProblem } from '../problem.ts';
import { requireSession, sessionOf } from '../session-cookie.ts';
import { operationsTopic } from '../watch-operations.ts';
import { orderState, orderTopic } from '../watch-orders.ts';
import { salesTopic } from '../watch-sales.ts';

/** A view ends after an hour at most, and with its session: the browser comes back and is looked at anew. */
const streamMsMax = 3_600_000;

const refusals = {
  full: { code: 'OVERLOADED', detail: 'Too many people are watching.' },
  full_for_user: { code: 'TOO_MANY_REQUESTS', detail: 'Too many tabs of you are open: close some.' },
  full_for_address: {
    code: 'TOO_MANY_REQUESTS',
    detail: 'Too many guests of your network are watching: sign in.',
  },
} as const;

/** Live views. Each sends whole states; `Last-Event-ID` spares a client that comes back what it has. */
export const eventRoutes: FastifyPluginAsyncZod<ConsoleDependencies> = async (app, dependencies) => {
  const { views, fanOut, limits, wake } = dependencies;
  app.addHook('onRequest', requireSession());

  const open = (request: FastifyRequest, reply: FastifyReply, topic: string): FastifyReply => {
    // Left while its session or order was looked at: it closes no second time, and would keep its place for ever.
    if (request.raw.socket.destroyed) return reply.hijack();
    const { userId, kind, expiresAtMs } = sessionOf(request);
    const place = limits.take({ userId, address: kind === 'guest' ? addressKey(request.ip) : undefined });
    if (place.kind !== 'taken') {
      const { code, detail } = refusals[place.kind];
      return sendProblem(reply, code, detail);
    }
    let leave = (): void => undefined;
    const reader = openStream(reply, () => {
      clearTimeout(end);
      leave();
      place.release();
    });
    const end = setTimeout(() => reader.end(), Math.min(streamMsMax, expiresAtMs - Date.now()));
    reader.send(clockFrame(views.now()));
    const lastEventId = request.headers['last-event-id'];
    leave = fanOut.join(topic, reader, typeof lastEventId === 'string' ? lastEventId : undefined);
    return reply;
  };

  app.get('/events/sales', async (request, reply) => {
    open(request, reply, salesTopic);
    wake('sales');
    return reply;
  });

  app.get('/events/orders/:id', { schema: { params: z.object({ id: orderId }) } }, async (request, reply) => {
    const { id } = request.params;
    const { userId, kind } = sessionOf(request);
    const [order] = await views.watchOrders([id]);
    if (order === undefined || !(kind === 'operator' || order.userId === userId)) {
      return sendProblem(reply, 'ORDER_NOT_FOUND');
    }
    open(request, reply, orderTopic(id));
    // Just read, so nobody waits for the next look.
    fanOut.publish(orderTopic(id), orderState(order));
    return reply;
  });

  app.get('/events/ops', { onRequest: requireSession('operator') }, async (request, reply) => {
    open(request, reply, operationsTopic);
    wake('operations');
    return reply;
  });
};

import { activityId, orderId } from '@lapse/contracts';
import type { OrderSummary } from '@lapse/order-repository';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ConsoleDependencies } from '../console-dependencies.ts';
import type { OrderRow } from '../live-states.ts';
import { requireSession, sessionOf } from '../session-cookie.ts';
import { latenessSinceMs } from '../watch-operations.ts';

/** A buyer sees their newest orders here; all of them are in the shop's own account page. */
const ownOrdersMax = 20;
/** Rows of an operators' list. */
const rowsMax = 200;

const findQuery = z.union([
  z.strictObject({ order: orderId }),
  z.strictObject({ user: z.string().min(1).max(512) }),
  z.strictObject({ payment: z.string().min(1).max(512) }),
  z.strictObject({
    activity: z.coerce.number().pipe(activityId),
    status: z.enum(['PENDING', 'PAID']).optional(),
  }),
  z.strictObject({ status: z.enum(['PENDING', 'PAID', 'TIMEOUT_CLOSED', 'CANCELLED']) }),
  z.strictObject({ due: z.coerce.number().int().min(0).max(60) }),
  z.strictObject({ late: z.literal('') }),
]);

const waitingQuery = z.strictObject({ kind: z.enum(['outbox', 'effects', 'notices']) });

/** What the page asks MySQL for once, rather than watches. */
export const readRoutes: FastifyPluginAsyncZod<ConsoleDependencies> = async (app, { views, history }) => {
  app.get('/api/orders', { onRequest: requireSession() }, async (request) => {
    const orders = await views.listBuyerOrders(sessionOf(request).userId, ownOrdersMax);
    return { orders: orders.map(toRow) };
  });

  app.get(
    '/api/ops/orders',
    { onRequest: requireSession('operator'), schema: { querystring: findQuery } },
    async ({ query }) => ({ orders: (await views.listSummaries(filterOf(query), rowsMax)).map(toRow) }),
  );

  app.get(
    '/api/ops/waiting',
    { onRequest: requireSession('operator'), schema: { querystring: waitingQuery } },
    async ({ query }) => ({ waiting: await views.listWaiting(query.kind, rowsMax) }),
  );

  app.get('/api/ops/history', { onRequest: requireSession('operator') }, async () => ({
    points: history.points(),
  }));
};

function filterOf(query: z.output<typeof findQuery>) {
  if ('order' in query) return { by: 'order', id: query.order } as const;
  if ('user' in query) return { by: 'user', userId: query.user } as const;
  if ('payment' in query) return { by: 'payment', paymentId: query.payment } as const;
  if ('activity' in query) {
    const { activity, status } = query;
    return { by: 'activity', activityId: activity, ...(status !== undefined && { status }) } as const;
  }
  if ('late' in query) return { by: 'late', sinceMs: latenessSinceMs } as const;
  if ('status' in query) return { by: 'status', status: query.status } as const;
  return { by: 'due', fromMinute: query.due } as const;
}

function toRow(order: OrderSummary): OrderRow {
  return {
    ...order,
    createdAt: order.createdAt.toISOString(),
    expiresAt: order.expiresAt.toISOString(),
    paidAt: order.paidAt?.toISOString() ?? null,
    closedAt: order.closedAt?.toISOString() ?? null,
  };
}

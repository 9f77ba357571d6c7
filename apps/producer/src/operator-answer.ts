import { createHash } from 'node:crypto';
import { activityView, orderView } from '@lapse/contracts';
import type { Activity, OperatorRequest, Order, StoredAnswer } from '@lapse/order-repository';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toActivityView, toOrderView } from './order-view.ts';
import { identityOf } from './require-identity.ts';

/**
 * Who asks, why, and what makes a repeat the same request: the route, its parameters and the body after defaults
 * are filled in. `parts` are those, in a fixed order.
 */
export function operatorRequest(
  request: FastifyRequest,
  key: string | undefined,
  reason: string,
  parts: readonly unknown[],
): OperatorRequest {
  const { userId: actor } = identityOf(request);
  if (key === undefined) return { actor, reason };
  const requestHash = createHash('sha256')
    .update(JSON.stringify([request.method, request.routeOptions.url, ...parts]))
    .digest();
  return { actor, reason, idempotency: { key, requestHash } };
}

/** The bytes that go out now, and again for a repeat: made once, by the public shape. */
export function activityAnswer(status: number, activity: Activity): StoredAnswer {
  return { status, body: Buffer.from(JSON.stringify(activityView.parse(toActivityView(activity)))) };
}

export function orderAnswer(status: number, order: Order): StoredAnswer {
  return { status, body: Buffer.from(JSON.stringify(orderView.parse(toOrderView(order)))) };
}

/** Send a kept answer as it is: no serializer may touch the bytes. */
export function sendStored(
  reply: FastifyReply,
  { status, body }: StoredAnswer,
  kind: 'done' | 'replayed',
): FastifyReply {
  if (kind === 'replayed') reply.header('idempotent-replayed', 'true');
  return reply.code(status).type('application/json; charset=utf-8').send(body);
}

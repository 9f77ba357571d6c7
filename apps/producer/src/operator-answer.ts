import { createHash } from 'node:crypto';
import type { OperatorRequest, StoredAnswer } from '@lapse/order-repository';
import type { FastifyReply, FastifyRequest } from 'fastify';
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

/** Send a kept answer as it is: no serializer may touch the bytes. */
export function sendStored(
  reply: FastifyReply,
  { status, body }: StoredAnswer,
  kind: 'done' | 'replayed',
): FastifyReply {
  if (kind === 'replayed') reply.header('idempotent-replayed', 'true');
  return reply.code(status).type('application/json; charset=utf-8').send(body);
}

import type { RateLimits } from '@lapse/rate-limits';
import type { FastifyError, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { sendProblem } from './problem-reply.ts';
import { identityOf } from './require-identity.ts';

/** Before everything else, so that a flood does not even cost the check of its tokens. */
export function limitAddresses(limits: Pick<RateLimits, 'countAddress'>): onRequestHookHandler {
  return (request, reply, done) => {
    const waitMs = limits.countAddress(request.ip);
    if (waitMs === undefined) return done();
    sendTooMany(reply, waitMs);
  };
}

/** For what a buyer orders and pays; after the identity is known. */
export function limitBuyers(limits: Pick<RateLimits, 'countBuyer'>): onRequestHookHandler {
  return (request, reply, done) => {
    const waitMs = limits.countBuyer(identityOf(request).userId);
    if (waitMs === undefined) return done();
    sendTooMany(reply, waitMs);
  };
}

/** A request with a wrong signature: 401 as long as its address stays within the limit. */
export function refuseUnsigned(
  limits: Pick<RateLimits, 'countAddress'>,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const waitMs = limits.countAddress(request.ip);
  if (waitMs !== undefined) return sendTooMany(reply, waitMs);
  reply.header('www-authenticate', 'StandardWebhooks realm="lapse"');
  return sendProblem(reply, { code: 'SIGNATURE_INVALID' });
}

/**
 * For a signed route: a request that fails before its signature is looked at (cut off, too large, of another type)
 * counts like one with a wrong signature. What is wrong with it is answered by the one handler of all errors.
 */
export function countUnreadable(limits: Pick<RateLimits, 'countAddress'>) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const isRefusal = error.statusCode !== undefined && error.statusCode < 500;
    const waitMs = isRefusal ? limits.countAddress(request.ip) : undefined;
    if (waitMs !== undefined) return sendTooMany(reply, waitMs);
    throw error;
  };
}

function sendTooMany(reply: FastifyReply, waitMs: number): FastifyReply {
  return sendProblem(reply, { code: 'TOO_MANY_REQUESTS', retryAfterSeconds: Math.ceil(waitMs / 1_000) });
}

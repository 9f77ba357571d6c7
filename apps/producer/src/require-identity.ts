import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator, Identity } from './authenticate.ts';
import { sendProblem } from './problem-reply.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `requireIdentity`; null on routes without it. */
    identity: Identity | null;
  }
}

type AsyncHook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/**
 * A hook for `onRequest`, so that it runs before the body is read: whoever has no valid token is told that,
 * and nothing about the request (401, RFC 6750). With `operator`, a valid token without the scope gets 403.
 */
export function requireIdentity(authenticate: Authenticator, scope?: 'operator'): AsyncHook {
  return async (request, reply) => {
    const result = await authenticate(request.headers.authorization);
    if (result.kind === 'invalid') {
      const { fault } = result;
      // Without credentials the challenge carries no error code (RFC 6750, 3.1).
      const error = fault === '' ? '' : `, error="invalid_token", error_description="${fault}"`;
      reply.header('www-authenticate', `Bearer realm="lapse"${error}`);
      return sendProblem(reply, {
        code: 'UNAUTHENTICATED',
        ...(fault === '' ? {} : { detail: sentence(fault) }),
      });
    }
    if (scope === 'operator' && !result.identity.isOperator) {
      reply.header('www-authenticate', 'Bearer realm="lapse", error="insufficient_scope", scope="operator"');
      return sendProblem(reply, {
        code: 'FORBIDDEN',
        detail: 'This needs a token with the scope "operator".',
      });
    }
    request.identity = result.identity;
    return undefined;
  };
}

/** The identity of a request on a route behind `requireIdentity`. */
export function identityOf({ identity }: FastifyRequest): Identity {
  if (!identity) throw new Error('the route lacks requireIdentity');
  return identity;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

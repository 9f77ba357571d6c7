import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Authenticator, AuthResult, Identity } from './authenticate.ts';
import { sendProblem } from './problem-reply.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `requireIdentity`; null on routes without it. */
    identity: Identity | null;
  }
}

/**
 * A hook for `onRequest`, so that it runs before the body is read: whoever has no valid token is told that,
 * and nothing about the request (401, RFC 6750). With `operator`, a valid token without the scope gets 403.
 */
export function requireIdentity(authenticate: Authenticator, scope?: 'operator'): onRequestHookHandler {
  return (request, reply, done) => {
    const decide = (result: AuthResult): void => {
      if (result.kind === 'invalid') refuse(reply, result.fault);
      else if (scope === 'operator' && !result.identity.isOperator) forbid(reply);
      else {
        request.identity = result.identity;
        done();
      }
    };
    const result = authenticate(request.headers.authorization);
    if (result instanceof Promise) result.then(decide, done);
    else decide(result);
  };
}

function refuse(reply: FastifyReply, fault: string): void {
  // Without credentials the challenge carries no error code (RFC 6750, 3.1).
  const error = fault === '' ? '' : `, error="invalid_token", error_description="${fault}"`;
  reply.header('www-authenticate', `Bearer realm="lapse"${error}`);
  sendProblem(reply, {
    code: 'UNAUTHENTICATED',
    ...(fault === '' ? {} : { detail: sentence(fault) }),
  });
}

function forbid(reply: FastifyReply): void {
  reply.header('www-authenticate', 'Bearer realm="lapse", error="insufficient_scope", scope="operator"');
  sendProblem(reply, { code: 'FORBIDDEN', detail: 'This needs a token with the scope "operator".' });
}

/** The identity of a request on a route behind `requireIdentity`. */
export function identityOf({ identity }: FastifyRequest): Identity {
  if (!identity) throw new Error('the route lacks requireIdentity');
  return identity;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

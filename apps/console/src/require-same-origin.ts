import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from './problem.ts';

const safeMethods = ['GET', 'HEAD'];

/**
 * A hook against requests that another site makes a browser send: what changes something must come from the page itself,
 * by its Origin, and as JSON, which no form can send. The cookie is SameSite=Strict besides.
 */
export function requireSameOrigin(publicUrl: string | undefined) {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).host;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    if (safeMethods.includes(request.method)) return undefined;
    const { origin, host } = request.headers;
    if (hostOf(origin) !== (own ?? host)) {
      return sendProblem(reply, 'FORBIDDEN', 'This request does not come from the page itself.');
    }
    if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
      return sendProblem(reply, 'UNSUPPORTED_MEDIA_TYPE');
    }
    return undefined;
  };
}

function hostOf(origin: string | undefined): string | null {
  return origin !== undefined && URL.canParse(origin) ? new URL(origin).host : null;
}

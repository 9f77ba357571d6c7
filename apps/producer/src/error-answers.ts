import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { problemOfError } from './problem-of-error.ts';
import { sendProblem } from './problem-reply.ts';

/** In an outage every request fails alike: the log says so this often, the metric counts them all. */
const outageLogEveryMs = 1_000;

/** Every error that leaves the API is a problem document. */
export function answerErrors(app: FastifyInstance): void {
  let outageLoggedAt = Number.NEGATIVE_INFINITY;

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const problem = problemOfError(error, request);
    if (problem.code === 'INTERNAL') {
      request.log.error(
        { err: error, requestId: request.id, route: request.routeOptions.url },
        'request failed',
      );
    } else if (problem.code === 'UNAVAILABLE' && performance.now() - outageLoggedAt > outageLogEveryMs) {
      outageLoggedAt = performance.now();
      request.log.warn({ err: error, requestId: request.id }, 'a store is away: answering 503');
    }
    return sendProblem(reply, problem);
  });
}

/** Where there is nothing, and where there is, but not by this method. */
export function answerUnknownAddresses(app: FastifyInstance, { methodsAt }: Addresses): void {
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsAt(request.url);
    if (methods.length === 0) return sendProblem(reply, { code: 'NOT_FOUND' });
    reply.header('allow', methods.join(', '));
    return sendProblem(reply, { code: 'METHOD_NOT_ALLOWED' });
  });
}

/** For errors before routing: an address that cannot be decoded, or has a part that is too long. */
export function answerFrameworkError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  void sendProblem(reply, problemOfError(error, request));
}

export interface Addresses {
  methodsAt(url: string): string[];
}

/**
 * Remembers which methods each address takes, of the routes that come after it. The router tells "no such address" and
 * "no such method" apart no more than by finding nothing.
 */
export function collectAddresses(app: FastifyInstance): Addresses {
  const routes = new Map<string, { readonly form: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    // Wildcards serve files of the docs page, where a wrong method is simply not found.
    if (url.includes('*')) return;
    const form = new RegExp(`^${url.replaceAll(/:[^/]+/g, '[^/]+')}$`);
    const route = routes.get(url) ?? { form, methods: new Set<string>() };
    for (const each of Array.isArray(method) ? method : [method]) route.methods.add(each);
    routes.set(url, route);
  });
  return {
    methodsAt: (url) => {
      const [path = ''] = url.split('?', 1);
      const found = [...routes.values()].filter(({ form }) => form.test(path));
      return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
    },
  };
}

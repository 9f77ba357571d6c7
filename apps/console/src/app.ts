import cookie from '@fastify/cookie';
import { isUnavailable } from '@lapse/order-repository';
import {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  fastify,
  LogController,
} from 'fastify';
import {
  hasZodFastifySchemaValidationErrors,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import helmet from 'helmet';
import { ProducerAwayError } from './call-producer.ts';
import type { ConsoleDependencies } from './console-dependencies.ts';
import { sendProblem } from './problem.ts';
import { requireSameOrigin } from './require-same-origin.ts';
import { apiRoutes } from './routes/api.ts';
import { eventRoutes } from './routes/events.ts';
import { pageRoutes } from './routes/page.ts';
import { readRoutes } from './routes/reads.ts';
import { sessionRoutes } from './routes/session.ts';
import { readSession } from './session-cookie.ts';

/** The largest honest body is a token, or a reason. */
const bodyBytesMax = 16_384;
const requestTimeoutMs = 10_000;
const headersTimeoutMs = 5_000;
const headerBytesMax = 16_384;
const keepAliveMs = 30_000;
/** Connections besides those of live views. */
const otherConnectionsMax = 500;

/** Everything from this page itself, nothing inline, nobody frames it. */
const contentSecurityPolicy = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    baseUri: ["'none'"],
    frameAncestors: ["'none'"],
  },
};

/** Build the page's server from what it needs. Opens no socket and reads no environment. */
export async function buildApp(dependencies: ConsoleDependencies): Promise<FastifyInstance> {
  const { trustProxy } = dependencies;
  const app = fastify({
    ...(trustProxy === undefined ? {} : { trustProxy: [...trustProxy] }),
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    http: { headersTimeout: headersTimeoutMs, maxHeaderSize: headerBytesMax },
    loggerInstance: dependencies.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  }).withTypeProvider<ZodTypeProvider>();
  app.server.maxConnections = dependencies.streamsMax + otherConnectionsMax;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  answerErrors(app);
  secureHeaders(app);
  app.decorateRequest('session', null);
  await app.register(cookie);
  // Live views end at once when the server begins to close; else they would hold it up.
  app.addHook('preClose', async () => dependencies.fanOut.endAll());
  await app.register(pageRoutes, dependencies);
  await app.register(async (own) => {
    own.addHook('onRequest', requireSameOrigin(dependencies.publicUrl));
    own.addHook('onRequest', readSession(dependencies));
    own.addHook('onSend', async (_request, reply) => {
      reply.header('cache-control', 'no-store');
    });
    await own.register(sessionRoutes, dependencies);
    await own.register(eventRoutes, dependencies);
    await own.register(readRoutes, dependencies);
    await own.register(apiRoutes, dependencies);
  });
  await app.ready();
  return app;
}

/** On the raw answer, so that live views carry them as well. */
function secureHeaders(app: FastifyInstance): void {
  const setHeaders = helmet({ contentSecurityPolicy, strictTransportSecurity: false });
  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request.raw, reply.raw, (error) => done(error as Error | undefined));
  });
}

function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    if (hasZodFastifySchemaValidationErrors(error))
      return sendProblem(reply, 'INVALID_REQUEST', error.message);
    if (error instanceof ProducerAwayError) {
      request.log.warn({ err: error }, 'the API does not answer');
      return sendProblem(reply, 'UNAVAILABLE', 'The shop does not answer at the moment. Try again.');
    }
    if (error.statusCode === 413) return sendProblem(reply, 'BODY_TOO_LARGE');
    if (error.statusCode === 415) return sendProblem(reply, 'UNSUPPORTED_MEDIA_TYPE');
    if (error.statusCode !== undefined && error.statusCode < 500) {
      return sendProblem(reply, 'INVALID_REQUEST', error.message);
    }
    if (isUnavailable(error)) return sendProblem(reply, 'UNAVAILABLE');
    request.log.error({ err: error }, 'request failed');
    return sendProblem(reply, 'INTERNAL');
  });
}

import { randomUUID } from 'node:crypto';
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import {
  type FastifyPluginAsyncZod,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import type { ApiDependencies } from './api-dependencies.ts';
import {
  type Addresses,
  answerErrors,
  answerFrameworkError,
  answerUnknownAddresses,
  collectAddresses,
} from './error-answers.ts';
import { answerBadSocket, httpLimits } from './http-limits.ts';
import { limitAddresses } from './limit-requests.ts';
import { requestSeconds } from './metrics.ts';
import { activityRoutes } from './routes/activities.ts';
import { describeApi, docsRoutes } from './routes/docs.ts';
import { operationRoutes } from './routes/operations.ts';
import { orderRoutes } from './routes/orders.ts';
import { pauseRoutes } from './routes/pauses.ts';
import { paymentRoutes } from './routes/payments.ts';
import { refundByHandRoutes } from './routes/refund-by-hand.ts';
import { refundRoutes } from './routes/refunds.ts';
import { repairRoutes } from './routes/repairs.ts';
import { undeliveredRoutes } from './routes/undelivered.ts';
import { secureHeaders } from './secure-headers.ts';

/**
 * Build the API from what it needs. Pure: opens no socket and reads no environment, so that a test can send
 * it requests with or without a network.
 */
export async function buildApp(dependencies: ApiDependencies): Promise<FastifyInstance> {
  const { log, requestTimeoutMs, trustProxy } = dependencies;
  const app = fastify({
    ...httpLimits(requestTimeoutMs),
    ...(trustProxy === undefined ? {} : { trustProxy: [...trustProxy] }),
    loggerInstance: log as FastifyBaseLogger,
    // A line per request would cost more than the request; errors carry the request's id themselves.
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger,
    // Version 4, which Node makes ten times as fast as version 7: nothing is sorted by it.
    genReqId: () => randomUUID(),
    // While closing, what arrives on an open connection is still served, with "connection: close".
    return503OnClosing: false,
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerBadSocket,
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.decorateRequest('identity', null);
  acceptJson(app);
  answerErrors(app);
  measure(app);
  sendSecurely(app);
  closeConnectionsWhenDraining(app);
  const addresses = collectAddresses(app);
  await describeApi(app);
  await app.register(paymentRoutes, dependencies);
  await app.register(limitedRoutes(addresses), dependencies);
  await app.ready();
  return app;
}

/** All but the payment provider's, which sends a whole sale's events from one address, and signs them. */
const limitedRoutes =
  (addresses: Addresses): FastifyPluginAsyncZod<ApiDependencies> =>
  async (app, dependencies) => {
    app.addHook('onRequest', limitAddresses(dependencies.limits));
    answerUnknownAddresses(app, addresses);
    await app.register(docsRoutes);
    await app.register(activityRoutes, dependencies);
    await app.register(orderRoutes, dependencies);
    await app.register(operationRoutes, dependencies);
    await app.register(pauseRoutes, dependencies);
    await app.register(repairRoutes, dependencies);
    await app.register(refundByHandRoutes, dependencies);
    await app.register(refundRoutes, dependencies);
    await app.register(undeliveredRoutes, dependencies);
  };

/** JSON and nothing else. An empty body is no body: some clients name a type and send none. */
function acceptJson(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text === '') done(null, undefined);
    else void parseJson(request, String(text), done);
  });
}

/** First of all hooks, so that a refusal has them too. */
function sendSecurely(app: FastifyInstance): void {
  const headers = secureHeaders();
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
}

function measure(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    requestSeconds.observe(
      {
        method: request.method,
        // The pattern, never the address: ids would make a series each.
        route: request.routeOptions.url ?? 'unknown',
        status: `${Math.floor(reply.statusCode / 100)}xx`,
      },
      reply.elapsedTime / 1_000,
    );
    done();
  });
}

/**
 * Requests in flight when the server begins to close are answered with "connection: close"; else their
 * keep-alive connections would hold the close up until they time out.
 */
function closeConnectionsWhenDraining(app: FastifyInstance): void {
  let draining = false;
  app.addHook('preClose', (done) => {
    draining = true;
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (draining) reply.header('connection', 'close');
    done();
  });
}

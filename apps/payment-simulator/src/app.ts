import { createHash, timingSafeEqual } from 'node:crypto';
import helmet from '@fastify/helmet';
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
import type { Dependencies } from './dependencies.ts';
import { controlRoutes } from './routes/control.ts';
import { pageRoutes } from './routes/page.ts';
import { shopRoutes } from './routes/shop.ts';

/** The largest honest body is below 1 KiB. */
const bodyBytesMax = 8_192;
const requestTimeoutMs = 10_000;
const headersTimeoutMs = 5_000;
const headerBytesMax = 16_384;
const keepAliveMs = 30_000;
/** Calls that are never answered on purpose keep theirs, so this bounds them as well. */
const connectionsMax = 2_000;

/** Build the simulator's HTTP side. Opens no socket and reads no environment. */
export async function buildApp(dependencies: Dependencies): Promise<FastifyInstance> {
  const app = fastify({
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    http: { headersTimeout: headersTimeoutMs, maxHeaderSize: headerBytesMax },
    loggerInstance: dependencies.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  }).withTypeProvider<ZodTypeProvider>();
  app.server.maxConnections = connectionsMax;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const { status, code, message } = faultOf(error);
    if (status === 500) request.log.error({ err: error }, 'request failed');
    return reply.code(status).send({ code, message });
  });
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ code: 'NOT_FOUND', message: 'No such address, or not with this method.' }),
  );
  acceptEmptyJson(app);
  await app.register(helmet, { contentSecurityPolicy: false });
  await app.register(pageRoutes, dependencies);
  await app.register(async (api) => {
    requireKey(api, dependencies.apiKey);
    await api.register(shopRoutes, dependencies);
    await api.register(controlRoutes, dependencies);
  });
  await app.ready();
  return app;
}

/** An empty body is no body: some clients name a type and send none. */
function acceptEmptyJson(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text === '') done(null, undefined);
    else void parseJson(request, String(text), done);
  });
}

function requireKey(api: FastifyInstance, apiKey: string): void {
  const wanted = digestOf(`Bearer ${apiKey}`);
  api.addHook('onRequest', async (request, reply) => {
    // Digests have one length, so that the comparison tells nothing of the key.
    if (timingSafeEqual(digestOf(request.headers.authorization ?? ''), wanted)) return undefined;
    reply.header('www-authenticate', 'Bearer');
    return reply
      .code(401)
      .send({ code: 'UNAUTHENTICATED', message: 'Send Authorization: Bearer and the key.' });
  });
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function faultOf(error: FastifyError): { status: number; code: string; message: string } {
  if (hasZodFastifySchemaValidationErrors(error)) {
    return { status: 400, code: 'INVALID_REQUEST', message: error.message };
  }
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return { status, code: 'INVALID_REQUEST', message: error.message };
  return { status: 500, code: 'INTERNAL', message: 'A fault of the simulator; see its log.' };
}

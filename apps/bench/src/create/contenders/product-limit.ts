import { activityId, createOrderBody, idempotencyKey } from '@lapse/contracts';
import { openRateLimits } from '@lapse/rate-limits';
import { Histogram, readConfig } from '@lapse/runtime';
import { fastify } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { lapseEnvironment } from '../../lapse-environment.ts';
import { quietLog } from '../../quiet-log.ts';
import type { Sale } from '../../sale.ts';
import { checkToken } from '../check-token.ts';
import { openDurableSale } from '../durable-sale.ts';
import type { HttpContender, HttpPlace } from '../http-contender.ts';

/**
 * What a route can reach that also does what no product that faces buyers leaves out, by the same libraries and settings as
 * Lapse. Between it and `lapse` lies what ours adds: the answer to a repeat, the pause, the trace, the draining, the release
 * of what was not written.
 */
export const productLimit: HttpContender = {
  name: 'product-limit',
  about:
    'durable-limit with path, headers and body validated, addresses and buyers limited, security headers, a metric, and the whole order as the answer',
  judgedBy: 'oracle',
  ordersMax: Number.POSITIVE_INFINITY,
  needsBroker: true,
  serve,
};

/** Those that Lapse sends with every answer. */
const securityHeaders = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
} as const;

const schema = {
  params: z.object({
    id: z
      .string()
      .regex(/^[1-9][0-9]{0,15}$/)
      .transform(Number)
      .pipe(activityId),
  }),
  headers: z.object({ 'idempotency-key': idempotencyKey }),
  body: createOrderBody,
};

async function serve(sale: Sale, { port, jwtSecret }: HttpPlace): Promise<void> {
  const sell = await openDurableSale(sale);
  const config = readConfig(lapseEnvironment(sale), ['redis', 'limits']);
  const limits = openRateLimits({ ...config.redis, ...config.limits }, quietLog);
  const seconds = new Histogram({
    name: 'request_seconds',
    help: 'Time from a request to the end of its answer.',
    labelNames: ['route', 'status'] as const,
  });

  const app = fastify().withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(securityHeaders);
    if (limits.countAddress(request.ip) === undefined) done();
    else void reply.code(429).send();
  });
  app.addHook('onRequest', checkToken(jwtSecret));
  app.addHook('onRequest', (request, reply, done) => {
    if (limits.countBuyer(String(request.headers['idempotency-key'])) === undefined) done();
    else void reply.code(429).send();
  });
  app.addHook('onResponse', (_request, reply, done) => {
    seconds.observe({ route: 'orders', status: String(reply.statusCode) }, reply.elapsedTime / 1_000);
    done();
  });
  app.post('/v1/activities/:id/orders', { schema }, async (request, reply) => {
    const order = await sell(request.headers['idempotency-key']);
    if (order === undefined) return reply.code(409).send({ code: 'SOLD_OUT' });
    const { generation: _own, requestHash: _hash, idempotencyKey: _key, ...answer } = order;
    return reply
      .code(201)
      .header('location', `/v1/orders/${order.id}`)
      .send({ ...answer, status: 'PENDING' });
  });
  await app.listen({ port, host: '127.0.0.1' });
}

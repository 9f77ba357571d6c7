import { fastify } from 'fastify';
import type { Sale } from '../../sale.ts';
import { checkToken } from '../check-token.ts';
import { openDurableSale } from '../durable-sale.ts';
import type { HttpContender, HttpPlace } from '../http-contender.ts';

/** What a route can reach that knows its buyers and writes their orders as durably as Lapse does, and does nothing else. */
export const durableLimit: HttpContender = {
  name: 'durable-limit',
  about:
    'the bare route, the buyer’s token checked, and the same transactions and messages as Lapse; no validation, headers, limits',
  judgedBy: 'oracle',
  roundsMax: 1,
  ordersMax: Number.POSITIVE_INFINITY,
  needsBroker: true,
  serve,
};

async function serve(sale: Sale, { port, jwtSecret }: HttpPlace): Promise<void> {
  const sell = await openDurableSale(sale);
  const app = fastify();
  app.addHook('onRequest', checkToken(jwtSecret));
  app.post('/v1/activities/:id/orders', async (request, reply) => {
    const order = await sell(String(request.headers['idempotency-key']));
    return reply.code(order ? 201 : 409).send({ id: order?.id });
  });
  await app.listen({ port, host: '127.0.0.1' });
}

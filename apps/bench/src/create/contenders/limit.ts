import { randomUUID } from 'node:crypto';
import { openOrderRepository } from '@lapse/order-repository';
import { openStock } from '@lapse/stock';
import { fastify } from 'fastify';
import { quietLog } from '../../quiet-log.ts';
import type { Sale } from '../../sale.ts';
import type { HttpContender } from '../http-contender.ts';

/** What HTTP and the reserve alone cost: no token is checked, nothing is written to MySQL. */
export const limit: HttpContender = {
  name: 'limit',
  about: 'a bare Fastify route that runs only the reserve script in Redis',
  judgedBy: 'redis',
  ordersMax: Number.POSITIVE_INFINITY,
  needsBroker: false,
  serve,
};

async function serve(sale: Sale, port: number): Promise<void> {
  const { activityId } = sale;
  const repository = await openOrderRepository(
    { url: sale.mysqlUrl, poolMax: 1, queryTimeoutMs: 10_000 },
    quietLog,
  );
  const activity = await repository.readActivity(activityId);
  await repository.close();
  if (activity === undefined) throw new Error('the activity is not there');
  const { generation, stockRunId } = activity;
  const stock = await openStock({ url: sale.redisUrl, commandTimeoutMs: 10_000 }, quietLog);
  const app = fastify();
  app.post('/v1/activities/:id/orders', async (request, reply) => {
    const userId = String(request.headers['idempotency-key']);
    const orderId = randomUUID();
    const { kind } = await stock.reserve({
      activityId,
      generation,
      stockRunId,
      orderId,
      userId,
      quantity: 1,
    });
    return reply.code(kind === 'reserved' ? 201 : 409).send({ id: orderId, kind });
  });
  await app.listen({ port, host: '127.0.0.1' });
}

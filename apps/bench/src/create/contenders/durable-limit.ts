import { openRelay, openTimeoutSender } from '@lapse/messaging';
import { type CreateResult, type NewOrder, openOrderRepository } from '@lapse/order-repository';
import { createBatcher, readConfig } from '@lapse/runtime';
import { openStock } from '@lapse/stock';
import { fastify } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import { lapseEnvironment } from '../../lapse-environment.ts';
import { quietLog } from '../../quiet-log.ts';
import type { Sale } from '../../sale.ts';
import type { HttpContender } from '../http-contender.ts';

const remindAfterMs = 600_000;
const payWithinMs = 900_000;
const requestHash = Buffer.alloc(32);

/**
 * What a route can reach that writes its orders as durably as Lapse does, with the same batches, and does nothing else: no
 * token, no validation, no security headers, no limits, no answer to repeat. Between it and `lapse` lies what those cost.
 */
export const durableLimit: HttpContender = {
  name: 'durable-limit',
  about:
    'the bare route, and the same transactions and messages as Lapse; no token, validation, headers or limits',
  judgedBy: 'oracle',
  // A yardstick beside the goals: one round is enough to read them by.
  roundsMax: 1,
  ordersMax: Number.POSITIVE_INFINITY,
  needsBroker: true,
  serve,
};

async function serve(sale: Sale, port: number): Promise<void> {
  const { activityId } = sale;
  const config = readConfig(lapseEnvironment(sale), ['mysql', 'redis', 'rocketmq', 'relay', 'create']);
  const orders = await openOrderRepository(config.mysql, quietLog);
  const stock = await openStock(config.redis, quietLog);
  const sender = await openTimeoutSender(config.rocketmq, quietLog);
  const relay = openRelay({ ...config.relay, sender, markSent: orders.markOutboxSent, log: quietLog });
  const inserts = createBatcher<NewOrder, CreateResult>({
    batchMax: config.create.batchMax,
    queueMax: config.create.queueMax,
    run: async (batch) => {
      const { results, outbox } = await orders.createOrders(batch);
      if (outbox) relay.add(outbox);
      return [...results];
    },
  });
  const activity = await orders.readActivity(activityId);
  if (activity === undefined) throw new Error('the activity is not there');
  const { generation, stockRunId, priceMinor, currency } = activity;

  const app = fastify();
  app.post('/v1/activities/:id/orders', async (request, reply) => {
    const userId = String(request.headers['idempotency-key']);
    const id = uuidv7();
    const wanted = { activityId, generation, orderId: id, userId, quantity: 1 };
    const { kind } = await stock.reserve({ ...wanted, stockRunId });
    if (kind !== 'reserved') return reply.code(409).send({ id, kind });
    const nowMs = orders.now();
    const written = await inserts.submit({
      ...{ id, activityId, generation, userId, quantity: 1, amountMinor: priceMinor, currency, locale: 'en' },
      createdAt: new Date(nowMs),
      remindAt: new Date(nowMs + remindAfterMs),
      expiresAt: new Date(nowMs + payWithinMs),
      ...{ idempotencyKey: userId, requestHash },
    });
    return reply.code(written.kind === 'created' ? 201 : 409).send({ id, kind: written.kind });
  });
  await app.listen({ port, host: '127.0.0.1' });
}

import { openRelay, openTimeoutSender } from '@lapse/messaging';
import { type CreateResult, type NewOrder, newOrderId, openOrderRepository } from '@lapse/order-repository';
import { createBatcher, readConfig } from '@lapse/runtime';
import { openStock } from '@lapse/stock';
import { lapseEnvironment } from '../lapse-environment.ts';
import { quietLog } from '../quiet-log.ts';
import type { Sale } from '../sale.ts';

const remindAfterMs = 600_000;
const payWithinMs = 900_000;
const requestHash = Buffer.alloc(32);

/**
 * Sell one place to each buyer as durably as Lapse does, with its batches, transactions and messages, and nothing else: no
 * answer to a repeat, and nothing released when something fails.
 * @returns the sale of one order; undefined when there is no place.
 */
export async function openDurableSale(
  sale: Sale,
): Promise<(userId: string) => Promise<NewOrder | undefined>> {
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

  return async (userId) => {
    const nowMs = orders.now();
    const id = newOrderId();
    const place = { activityId, generation, userId, quantity: 1 };
    const { kind } = await stock.reserve({ ...place, orderId: id, stockRunId });
    if (kind !== 'reserved') return undefined;
    const order: NewOrder = {
      ...{ id, ...place, amountMinor: priceMinor, currency, locale: 'en' },
      createdAt: new Date(nowMs),
      remindAt: new Date(nowMs + remindAfterMs),
      expiresAt: new Date(nowMs + payWithinMs),
      ...{ idempotencyKey: userId, requestHash },
    };
    const written = await inserts.submit(order);
    return written.kind === 'created' ? order : undefined;
  };
}

import { createHash, randomBytes } from 'node:crypto';
import { type NewOrder, openOrderRepository } from '@lapse/order-repository';
import { openStock } from '@lapse/stock';
import type { Pool } from 'mysql2/promise';
import { v7 as uuidv7 } from 'uuid';
import type { RunStores } from './open-stores.ts';
import { quietLog } from './quiet-log.ts';
import type { BenchServices } from './services.ts';

/** A sale, and where its stores are: everything a contender needs to know. */
export interface Sale {
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  readonly rocketmqEndpoints: string;
  readonly rocketmqNamesrv: string;
  /** Empty where the contender does not use it. */
  readonly amqpUrl: string;
  /** Topics and groups of this run alone. */
  readonly topicPrefix: string;
  readonly activityId: number;
  /** Places, whether sold or not. */
  readonly orders: number;
}

/** What a contender is told of a prepared sale, with topics and groups of its own. */
export function describeSale(
  { mysqlUrl, redisUrl }: RunStores,
  { rocketmqEndpoints, rocketmqNamesrv }: Pick<BenchServices, 'rocketmqEndpoints' | 'rocketmqNamesrv'>,
  { activityId, orders, amqpUrl = '' }: { activityId: number; orders: number; amqpUrl?: string },
): Sale {
  const topicPrefix = `b-${randomBytes(4).toString('hex')}-`;
  return {
    mysqlUrl,
    redisUrl,
    rocketmqEndpoints,
    rocketmqNamesrv,
    topicPrefix,
    activityId,
    orders,
    amqpUrl,
  };
}

/** Of orders that are placed over HTTP. */
export interface SaleTimes {
  readonly payWithinMs: number;
  readonly remindAfterMs: number;
}

const ordersPerInsert = 1_000;
/** Until their deadline is set the orders are due in a day. */
export const farMs = 86_400_000;

/**
 * Put `capacity` places of one activity on sale and sell the first `sold` of them, one to a buyer, the way the producer
 * writes it; then load Redis from MySQL, as after a loss. All contenders begin with the same rows in both stores.
 * @returns the activity's id. The orders are due in a day: `setDeadline` says when.
 */
export async function prepareSale(
  { mysqlUrl, redisUrl }: RunStores,
  capacity: number,
  sold: number = capacity,
  times: SaleTimes = { payWithinMs: 900_000, remindAfterMs: 600_000 },
): Promise<number> {
  const repository = await openOrderRepository(
    { url: mysqlUrl, poolMax: 4, queryTimeoutMs: 60_000 },
    quietLog,
  );
  const stock = await openStock({ url: redisUrl, commandTimeoutMs: 10_000 }, quietLog);
  try {
    const { id, generation } = await repository.createActivity({
      name: 'Bench',
      capacity,
      priceMinor: 8_800,
      currency: 'CNY',
      saleStartsAt: null,
      saleEndsAt: null,
      ...times,
      quantityMax: 1,
      latePaymentPolicy: 'refund',
      paymentGraceMs: 30_000,
    });
    for (let at = 0; at < sold; at += ordersPerInsert) {
      const count = Math.min(ordersPerInsert, sold - at);
      const { results, outbox } = await repository.createOrders(
        Array.from({ length: count }, () => newOrder(id, generation, repository.now())),
      );
      const refused = results.find(({ kind }) => kind !== 'created');
      if (refused) throw new Error(`an order was not created: ${refused.kind}`);
      // Whoever needs messages sends them by itself, once the deadline is set.
      const deliverAt = Date.now() + farMs / 2;
      if (outbox) await repository.markOutboxSent([{ id: outbox.id, messageId: 'bench', deliverAt }]);
    }
    await repository.rebuildSnapshot(id, ({ available, ...snapshot }) =>
      stock.load({ ...snapshot, stock: available }, ''),
    );
    return id;
  } finally {
    await stock.close();
    await repository.close();
  }
}

function newOrder(activityId: number, generation: number, nowMs: number): NewOrder {
  const id = uuidv7();
  return {
    id,
    activityId,
    generation,
    userId: `buyer-${id}`,
    quantity: 1,
    amountMinor: 8_800,
    currency: 'CNY',
    locale: 'en',
    createdAt: new Date(nowMs),
    remindAt: new Date(nowMs + farMs / 2),
    expiresAt: new Date(nowMs + farMs),
    idempotencyKey: `key-${id}`,
    requestHash: createHash('sha256').update(id).digest(),
  };
}

/** One deadline for all orders, in ms since 1970 by the database clock, which is that of this machine. */
export async function setDeadline(mysql: Pool, dueAtMs: number): Promise<void> {
  await mysql.query('UPDATE orders SET remind_at = ?, expires_at = ?', [
    new Date(dueAtMs - 300_000),
    new Date(dueAtMs),
  ]);
}

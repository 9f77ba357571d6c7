import { type ConsumeMessage, connect } from 'amqplib';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import type { Sale } from '../../sale.ts';
import { closeOneOrder, readOrders } from '../close-one-order.ts';
import type { CloseContender } from '../contender.ts';

/** Orders wait here until their time is over; nobody consumes it. */
const waitQueue = 'bench.wait';
const closeQueue = 'bench.close';
const prefetch = 50;
const connections = 10;

export const rabbitmq: CloseContender = {
  name: 'rabbitmq',
  about: `RabbitMQ: a durable queue with a TTL for each persistent message and a dead-letter exchange; one consumer, prefetch ${prefetch}`,
  judgedBy: 'counts',
  ordersMax: 3_000,
  queue: 'rabbitmq',
  armMs: (orders) => 500 + orders / 2,
  arm,
  work,
};

async function openChannel({ amqpUrl }: Sale) {
  const connection = await connect(amqpUrl);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue(closeQueue, { durable: true });
  await channel.assertQueue(waitQueue, {
    durable: true,
    deadLetterExchange: '',
    deadLetterRoutingKey: closeQueue,
  });
  return channel;
}

async function arm(sale: Sale, dueAtMs: number): Promise<void> {
  const mysql = createPool({ uri: sale.mysqlUrl, connectionLimit: 1 });
  const orders = await readOrders(mysql, sale.activityId);
  await mysql.end();
  const channel = await openChannel(sale);
  for (const { id, userId } of orders) {
    const body = Buffer.from(JSON.stringify({ id: id.toString('hex'), userId }));
    const options = { persistent: true, expiration: dueAtMs - Date.now() };
    if (!channel.sendToQueue(waitQueue, body, options)) {
      await new Promise((resolve) => channel.once('drain', resolve));
    }
  }
  await channel.waitForConfirms();
}

async function work(sale: Sale, ready: () => void): Promise<void> {
  const mysql = createPool({ uri: sale.mysqlUrl, connectionLimit: connections });
  const redis = new Redis(sale.redisUrl);
  const channel = await openChannel(sale);
  await channel.purgeQueue(waitQueue);
  await channel.purgeQueue(closeQueue);
  await channel.prefetch(prefetch);
  const close = async (message: ConsumeMessage): Promise<void> => {
    const { id, userId } = JSON.parse(message.content.toString());
    await closeOneOrder(mysql, redis, sale.activityId, { id: Buffer.from(id, 'hex'), userId });
    channel.ack(message);
  };
  // A failure is an unhandled rejection: the process ends, and the run has no figure.
  await channel.consume(closeQueue, (message) => {
    if (message !== null) void close(message);
  });
  ready();
}

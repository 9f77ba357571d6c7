/**
 * The worker: one message, one order, one transaction after the other. Reads SEED_MYSQL_URL, SEED_REDIS_URL,
 * SEED_ENDPOINTS, SEED_TOPIC, SEED_GROUP.
 */
import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import { SimpleConsumer } from 'rocketmq-client-nodejs';
import { closeOrder, type DueOrder } from './close-order.ts';

/** The least that the proxy takes: a message that was not acknowledged comes again after it. */
const invisibleMs = 10_000;

const { env } = process;
const mysql = await createConnection({ uri: `${env.SEED_MYSQL_URL}`, timezone: 'Z' });
const redis = new Redis(`${env.SEED_REDIS_URL}`);
const quiet = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };
const consumer = new SimpleConsumer({
  endpoints: `${env.SEED_ENDPOINTS}`,
  namespace: '',
  logger: quiet as never,
  consumerGroup: `${env.SEED_GROUP}`,
  subscriptions: new Map([[`${env.SEED_TOPIC}`, '*']]),
  awaitDuration: 5_000,
});
await consumer.startup();
process.stdout.write('started\n');

for (;;) {
  const messages = await consumer.receive(1, invisibleMs);
  for (const message of messages) {
    const { orders } = JSON.parse(message.body.toString()) as { orders: DueOrder[] };
    for (const order of orders) await closeOrder(mysql, redis, order);
    await consumer.ack(message);
    for (const { orderId } of orders) process.stdout.write(`acknowledged ${orderId}\n`);
  }
}

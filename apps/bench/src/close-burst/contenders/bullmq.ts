import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import type { Sale } from '../../sale.ts';
import { closeOneOrder, readOrders } from '../close-one-order.ts';
import type { CloseContender } from '../contender.ts';

const queueName = 'close';
/** addBulk is what the docs say for many; one call is one transaction in Redis. */
const jobsPerCall = 1_000;
/** The number in the docs' page on concurrency; the pool is mysql2's default. */
const concurrency = 50;
const connections = 10;

interface Job {
  readonly id: string;
  readonly userId: string;
}

export const bullmq: CloseContender = {
  name: 'bullmq',
  about: `BullMQ delayed jobs, one an order, addBulk, removeOnComplete, one worker with concurrency ${concurrency}`,
  judgedBy: 'counts',
  ordersMax: 3_000,
  queue: null,
  armMs: (orders) => 500 + orders / 2,
  arm,
  work,
};

/** Workers block on their connection: the docs want no limit of retries there. */
function connect({ redisUrl }: Sale): Redis {
  return new Redis(redisUrl, { maxRetriesPerRequest: null });
}

async function arm(sale: Sale, dueAtMs: number): Promise<void> {
  const mysql = createPool({ uri: sale.mysqlUrl, connectionLimit: 1 });
  const orders = await readOrders(mysql, sale.activityId);
  await mysql.end();
  const queue = new Queue<Job>(queueName, { connection: connect(sale) });
  for (let at = 0; at < orders.length; at += jobsPerCall) {
    const delay = dueAtMs - Date.now();
    await queue.addBulk(
      orders.slice(at, at + jobsPerCall).map(({ id, userId }) => ({
        name: queueName,
        data: { id: id.toString('hex'), userId },
        opts: { delay, removeOnComplete: true },
      })),
    );
  }
}

async function work(sale: Sale, ready: () => void): Promise<void> {
  const mysql = createPool({ uri: sale.mysqlUrl, connectionLimit: connections });
  const redis = new Redis(sale.redisUrl);
  const worker = new Worker<Job>(
    queueName,
    ({ data }) =>
      closeOneOrder(mysql, redis, sale.activityId, { id: Buffer.from(data.id, 'hex'), userId: data.userId }),
    { connection: connect(sale), concurrency },
  );
  worker.on('error', (error) => process.stderr.write(`${error.stack}\n`));
  worker.on('failed', (_, error) => process.stderr.write(`${error.stack}\n`));
  await worker.waitUntilReady();
  ready();
}

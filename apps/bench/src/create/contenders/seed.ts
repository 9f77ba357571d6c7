import { openTimeoutSender } from '@lapse/messaging';
import { readConfig } from '@lapse/runtime';
import { fastify } from 'fastify';
import { Redis } from 'ioredis';
import { createPool, type ResultSetHeader } from 'mysql2/promise';
import { v7 as uuidv7 } from 'uuid';
import { lapseEnvironment } from '../../lapse-environment.ts';
import { quietLog } from '../../quiet-log.ts';
import type { Sale } from '../../sale.ts';
import type { HttpContender, HttpPlace } from '../http-contender.ts';

const remindAfterMs = 600_000;
const payWithinMs = 900_000;
/** The default of mysql2. */
const connections = 10;

/** The shop that everybody writes first: Redis, then one transaction an order, then one delay message an order. */
export const seed: HttpContender = {
  name: 'seed',
  about: `DECR and SADD in Redis, one transaction an order, one delay message an order; pool of ${connections}`,
  judgedBy: 'counts',
  ordersMax: 1_000,
  needsBroker: true,
  serve,
};

async function serve(sale: Sale, { port }: HttpPlace): Promise<void> {
  const { activityId } = sale;
  const mysql = createPool({ uri: sale.mysqlUrl, timezone: 'Z', connectionLimit: connections });
  const redis = new Redis(sale.redisUrl);
  const { rocketmq } = readConfig(lapseEnvironment(sale), ['rocketmq']);
  const sender = await openTimeoutSender(rocketmq, quietLog);
  const [stockKey, usersKey] = [`activity:{${activityId}}:stock`, `activity:{${activityId}}:users`];

  async function reserve(userId: string): Promise<boolean> {
    if ((await redis.sadd(usersKey, userId)) === 0) return false;
    if ((await redis.decr(stockKey)) >= 0) return true;
    await redis.incr(stockKey);
    await redis.srem(usersKey, userId);
    return false;
  }

  async function insert(orderId: string, userId: string, now: number): Promise<void> {
    const connection = await mysql.getConnection();
    try {
      await connection.query('START TRANSACTION');
      await connection.query(
        `INSERT INTO orders (id, activity_id, user_id, quantity, amount_minor, currency, locale, status, version,
           created_at, remind_at, expires_at, idempotency_key, request_hash)
         VALUES (?, ?, ?, 1, 8800, 'CNY', 'en', 'PENDING', 1, ?, ?, ?, ?, REPEAT('0', 32))`,
        [
          Buffer.from(orderId.replaceAll('-', ''), 'hex'),
          ...[activityId, Buffer.from(userId), new Date(now)],
          ...[new Date(now + remindAfterMs), new Date(now + payWithinMs), userId],
        ],
      );
      const [{ affectedRows }] = await connection.query<ResultSetHeader>(
        'UPDATE activity SET available = available - 1 WHERE id = ? AND available >= 1',
        [activityId],
      );
      if (affectedRows === 0) throw new Error('Redis sold more than there is');
      await connection.query('COMMIT');
    } catch (error) {
      await connection.query('ROLLBACK');
      throw error;
    } finally {
      connection.release();
    }
  }

  const app = fastify();
  app.post('/v1/activities/:id/orders', async (request, reply) => {
    const userId = String(request.headers['idempotency-key']);
    if (!(await reserve(userId))) return reply.code(409).send({ code: 'SOLD_OUT' });
    const [orderId, createTime] = [uuidv7(), Date.now()];
    await insert(orderId, userId, createTime);
    const dueTime = createTime + payWithinMs;
    const order = { orderId, activityId, userId, createTime, dueTime };
    await sender.send({ version: 1, phase: 2, dueTime, orders: [order] }, dueTime);
    return reply.code(201).send({ id: orderId });
  });
  await app.listen({ port, host: '127.0.0.1' });
}

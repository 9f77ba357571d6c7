import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createPool, type RowDataPacket } from 'mysql2/promise';
import type { Sale } from '../../sale.ts';
import { closeOneOrder } from '../close-one-order.ts';
import type { CloseContender } from '../contender.ts';

const everyMs = 5_000;

/** A cron job over the orders table: every five seconds, so many overdue orders, one after the other. */
function pollOf(limit: number, ordersMax: number): CloseContender {
  return {
    name: `poll-${limit}`,
    about: `every ${everyMs / 1_000} s SELECT ... LIMIT ${limit}, then one transaction an order, one after the other`,
    judgedBy: 'counts',
    ordersMax,
    queue: null,
    armMs: () => 0,
    work: (sale, ready) => poll(sale, limit, ready),
  };
}

export const poll100 = pollOf(100, 200);
export const poll1000 = pollOf(1_000, 2_000);

async function poll({ mysqlUrl, redisUrl, activityId }: Sale, limit: number, ready: () => void) {
  const mysql = createPool({ uri: mysqlUrl, connectionLimit: 1 });
  const redis = new Redis(redisUrl);
  await redis.ping();
  ready();
  for (;;) {
    const startedAt = Date.now();
    const [rows] = await mysql.query<RowDataPacket[]>(
      `SELECT id, user_id FROM orders WHERE status = 'PENDING' AND expires_at <= NOW(3)
       ORDER BY expires_at LIMIT ${limit}`,
    );
    for (const { id, user_id } of rows) {
      await closeOneOrder(mysql, redis, activityId, { id, userId: user_id.toString('utf8') });
    }
    await sleep(Math.max(0, startedAt + everyMs - Date.now()));
  }
}

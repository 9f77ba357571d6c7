import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import type { Sale } from '../../sale.ts';
import { closeOneOrder, readOrders } from '../close-one-order.ts';
import type { CloseContender } from '../contender.ts';

const key = 'bench:deadlines';
const ordersPerLook = 100;
const emptyWaitMs = 100;
const ordersPerAdd = 1_000;

export const zset: CloseContender = {
  name: 'zset',
  about: `Redis sorted set by deadline: ZRANGEBYSCORE LIMIT ${ordersPerLook}, ZREM decides who closes, ${emptyWaitMs} ms between empty looks`,
  judgedBy: 'counts',
  ordersMax: 3_000,
  queue: null,
  armMs: (orders) => 300 + orders / 10,
  arm,
  work,
};

async function arm({ mysqlUrl, redisUrl, activityId }: Sale, dueAtMs: number): Promise<void> {
  const mysql = createPool({ uri: mysqlUrl, connectionLimit: 1 });
  const redis = new Redis(redisUrl);
  const members = (await readOrders(mysql, activityId)).map(
    ({ id, userId }) => `${id.toString('hex')} ${userId}`,
  );
  for (let at = 0; at < members.length; at += ordersPerAdd) {
    await redis.zadd(key, ...members.slice(at, at + ordersPerAdd).flatMap((member) => [dueAtMs, member]));
  }
  redis.disconnect();
  await mysql.end();
}

async function work({ mysqlUrl, redisUrl, activityId }: Sale, ready: () => void): Promise<void> {
  const mysql = createPool({ uri: mysqlUrl, connectionLimit: 1 });
  const redis = new Redis(redisUrl);
  await redis.ping();
  ready();
  for (;;) {
    const due = await redis.zrangebyscore(key, 0, Date.now(), 'LIMIT', 0, ordersPerLook);
    for (const member of due) {
      if ((await redis.zrem(key, member)) === 0) continue;
      const [id = '', userId = ''] = member.split(' ');
      await closeOneOrder(mysql, redis, activityId, { id: Buffer.from(id, 'hex'), userId });
    }
    if (due.length === 0) await sleep(emptyWaitMs);
  }
}

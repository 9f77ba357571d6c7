import { randomUUID } from 'node:crypto';
import { fastify } from 'fastify';
import { Redis } from 'ioredis';
import type { Sale } from '../../sale.ts';
import type { HttpContender, HttpPlace } from '../http-contender.ts';

/** Stock, users and holds in one step, and nothing that a product needs besides. */
const reserveLua = `
if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return 'reserved' end
if redis.call('SISMEMBER', KEYS[2], ARGV[2]) == 1 then return 'user_holds' end
if tonumber(redis.call('GET', KEYS[1])) < 1 then return 'sold_out' end
redis.call('DECR', KEYS[1])
redis.call('SADD', KEYS[2], ARGV[2])
redis.call('HSET', KEYS[3], ARGV[1], 'h:1:0:' .. ARGV[2])
return 'reserved'`;

/** What HTTP and the reserve alone cost: no token is checked, nothing is written to MySQL. */
export const limit: HttpContender = {
  name: 'limit',
  about: 'a bare Fastify route that runs only a reserve script in Redis, one call a request',
  judgedBy: 'redis',
  ordersMax: Number.POSITIVE_INFINITY,
  needsBroker: false,
  serve,
};

async function serve({ activityId, redisUrl }: Sale, { port }: HttpPlace): Promise<void> {
  const redis = new Redis(redisUrl, { enableAutoPipelining: true });
  redis.defineCommand('reserve', { numberOfKeys: 3, lua: reserveLua });
  const { reserve } = redis as unknown as { reserve(...keysAndArgv: string[]): Promise<string> };
  const keys = ['stock', 'users', 'holds'].map((name) => `activity:{${activityId}}:${name}`);
  const app = fastify();
  app.post('/v1/activities/:id/orders', async (request, reply) => {
    const userId = String(request.headers['idempotency-key']);
    const id = randomUUID();
    const kind = await reserve.call(redis, ...keys, id, userId);
    return reply.code(kind === 'reserved' ? 201 : 409).send({ id, kind });
  });
  await app.listen({ port, host: '127.0.0.1' });
}

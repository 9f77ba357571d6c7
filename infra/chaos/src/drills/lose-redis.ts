import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sendToRedis } from '../send-to-redis.ts';
import { awaitOrder } from './await-order.ts';
import type { Drill } from './drill.ts';

/** Where Redis keeps every write. */
const appendOnlyFolder = 'appendonlydir';

/** Everything in Redis is gone: first by a command, then with its disk. MySQL loads it anew; nothing is typed. */
export const loseRedis: Drill = async (parts) => {
  const { world, say, lapse } = parts;
  const { redis } = world.services.kept;
  await sendToRedis(world.services.ports.redis, 'FLUSHALL');
  say('FLUSHALL was sent to Redis');
  await awaitOrder(parts, 'after the FLUSHALL');
  await redis.holdDownUntilGone();
  rmSync(join(world.services.redisDir, appendOnlyFolder), { recursive: true, force: true });
  say('Redis is killed, and its files are deleted');
  await lapse('doctor');
  redis.release();
  say('an empty Redis is started in its place');
  await awaitOrder(parts, 'after that');
  await lapse('audit');
};

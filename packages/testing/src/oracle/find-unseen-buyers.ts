import { crc32 } from 'node:zlib';
import type { Redis } from 'ioredis';
import { idToText, type MysqlSnapshot } from './mysql-snapshot.ts';
import { redisKeys } from './redis-sums.ts';
import { type Finding, orderIdsMax } from './verdict.ts';

/** Orders looked at in one step. */
const pageMax = 5_000;

interface KeyedOrder {
  readonly id: Buffer;
  readonly activity_id: number;
  readonly user_id: Buffer;
}

/**
 * I10 in Redis: of every order whose key must still get its first answer, the buyer has their bit in the activity's
 * map. Without it a repeat in a sold-out sale would be refused as that of a stranger. An activity without a map is
 * lawful: there MySQL is asked each time.
 * @param loaded activities that this server of Redis may sell: it has them under the generation of this snapshot, and is
 * the one that they were loaded into. One that was loaded again since is no harm: its map has all of these orders too.
 * @param isSameServer whether it still is that server. One that came back with older data has an older map, and refuses
 * everybody until it is loaded.
 */
export async function findUnseenBuyers(
  mysql: MysqlSnapshot,
  redis: Redis,
  loaded: readonly number[],
  isSameServer: () => Promise<boolean>,
): Promise<Finding[]> {
  const maps = new Map<number, Buffer>();
  for (const activityId of loaded) {
    const map = await redis.getBuffer(redisKeys(activityId).seen);
    if (map !== null && map.length > 0) maps.set(activityId, map);
  }
  if (!(await isSameServer())) return [];
  let total = 0;
  const orderIds: string[] = [];
  for await (const page of keyedOrders(mysql, [...maps.keys()])) {
    for (const { id, activity_id, user_id } of page) {
      const map = maps.get(activity_id);
      if (map === undefined || hasBit(map, user_id)) continue;
      total += 1;
      if (orderIds.length < orderIdsMax) orderIds.push(idToText(id));
    }
  }
  const says = 'order whose buyer the map of buyers in Redis does not know';
  return total === 0 ? [] : [{ id: 'I10', says, total, orderIds }];
}

/** CRC-32 of the id's bytes, modulo the bits there are; the first bit is the highest of its byte. */
function hasBit(map: Buffer, user: Buffer): boolean {
  const at = crc32(user) % (map.length * 8);
  return ((map[Math.floor(at / 8)] ?? 0) & (0x80 >> (at % 8))) !== 0;
}

/** Those placed within the 24 hours for which a key is kept, in pages by primary key. */
async function* keyedOrders(
  mysql: MysqlSnapshot,
  activityIds: readonly number[],
): AsyncGenerator<KeyedOrder[]> {
  let after = Buffer.alloc(0);
  while (activityIds.length > 0) {
    const page = await mysql.rows<KeyedOrder>(
      `SELECT o.id, o.activity_id, o.user_id FROM orders o
       WHERE o.id > ? AND o.idempotency_key IS NOT NULL AND o.created_at > NOW(3) - INTERVAL 24 HOUR
         AND o.activity_id IN (?) ORDER BY o.id LIMIT ${pageMax}`,
      [after, activityIds],
    );
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = Buffer.from(last.id);
  }
}

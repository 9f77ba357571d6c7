import type { Redis } from 'ioredis';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import { idsOf, type SaleActivity } from './sale.ts';

/** By store. */
type PlacesFree = Readonly<Record<'mysql' | 'redis', number>>;

/** Free places of all these activities together. One statement and one command, however many they are. */
export async function readPlacesFree(
  { mysql, redis }: { readonly mysql: Pool; readonly redis: Redis },
  activities: readonly SaleActivity[],
): Promise<PlacesFree> {
  const ids = idsOf(activities);
  const inRedis = await readPlacesInRedis(redis, activities);
  const [[row]] = await mysql.query<RowDataPacket[]>(
    'SELECT SUM(available) AS available FROM activity WHERE id IN (?)',
    [ids],
  );
  return { mysql: Number(row?.available), redis: inRedis };
}

/** Of these the part in Redis. */
export async function readPlacesInRedis(redis: Redis, activities: readonly SaleActivity[]): Promise<number> {
  const stocks = await redis.mget(idsOf(activities).map((id) => `activity:{${id}}:stock`));
  return stocks.reduce((sum, stock) => sum + Number(stock), 0);
}

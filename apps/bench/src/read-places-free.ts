import type { Redis } from 'ioredis';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import type { SaleActivity } from './sale.ts';

/** By store. */
type PlacesFree = Readonly<Record<'mysql' | 'redis', number>>;

/** Free places of all these activities together. One statement and one command, however many they are. */
export async function readPlacesFree(
  { mysql, redis }: { readonly mysql: Pool; readonly redis: Redis },
  activities: readonly SaleActivity[],
): Promise<PlacesFree> {
  const ids = activities.map(({ id }) => id);
  const stocks = await redis.mget(ids.map((id) => `activity:{${id}}:stock`));
  const [[row]] = await mysql.query<RowDataPacket[]>(
    'SELECT SUM(available) AS available FROM activity WHERE id IN (?)',
    [ids],
  );
  return {
    mysql: Number(row?.available),
    redis: stocks.reduce((sum, stock) => sum + Number(stock), 0),
  };
}

import type { Redis } from 'ioredis';
import type { ClientBase, Pool } from 'pg';

export interface PostgresOrder {
  readonly id: string;
  readonly userId: string;
}

/**
 * Close one order of PostgreSQL: compare-and-set and credit are one statement, which is one transaction and one round
 * trip, so that the activity's row is held no longer than its commit takes; then Redis. As exact as `closeOneOrder`.
 */
export async function closeInPostgres(
  postgres: Pool | ClientBase,
  redis: Redis,
  activityId: number,
  { id, userId }: PostgresOrder,
): Promise<void> {
  const { rowCount } = await postgres.query({
    name: 'close',
    text: `WITH closed AS (
        UPDATE orders SET status = 'TIMEOUT_CLOSED', version = version + 1, closed_at = now()
        WHERE id = $1 AND status = 'PENDING' RETURNING activity_id
      )
      UPDATE activity SET available = available + 1 WHERE id = (SELECT activity_id FROM closed)`,
    values: [id],
  });
  if (rowCount === 0) return;
  await redis
    .multi()
    .incr(`activity:{${activityId}}:stock`)
    .srem(`activity:{${activityId}}:users`, userId)
    .exec();
}

/** Every order of the sale, for those who have to schedule them one by one. */
export async function readPostgresOrders(postgres: Pool): Promise<PostgresOrder[]> {
  const { rows } = await postgres.query('SELECT id, user_id AS "userId" FROM orders ORDER BY id');
  return rows;
}

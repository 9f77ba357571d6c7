import type { Redis } from 'ioredis';
import type { Pool, ResultSetHeader, RowDataPacket } from 'mysql2/promise';

export interface OrderToClose {
  readonly id: Buffer;
  readonly userId: string;
}

/**
 * Close one order as a careful programmer does with a job queue: compare-and-set and credit in one transaction, then
 * Redis. What the peers have in common; it is exact unless the process dies after COMMIT.
 */
export async function closeOneOrder(
  mysql: Pool,
  redis: Redis,
  activityId: number,
  { id, userId }: OrderToClose,
): Promise<void> {
  const connection = await mysql.getConnection();
  try {
    await connection.query('START TRANSACTION');
    const [{ affectedRows }] = await connection.query<ResultSetHeader>(
      "UPDATE orders SET status = 'TIMEOUT_CLOSED', version = version + 1, closed_at = NOW(3) WHERE id = ? AND status = 'PENDING'",
      [id],
    );
    if (affectedRows === 1)
      await connection.query('UPDATE activity SET available = available + 1 WHERE id = ?', [activityId]);
    await connection.query('COMMIT');
    if (affectedRows === 0) return;
  } catch (error) {
    await connection.query('ROLLBACK');
    throw error;
  } finally {
    connection.release();
  }
  await redis
    .multi()
    .incr(`activity:{${activityId}}:stock`)
    .srem(`activity:{${activityId}}:users`, userId)
    .exec();
}

/** Every order of the sale, for those who have to schedule them one by one. */
export async function readOrders(mysql: Pool, activityId: number): Promise<OrderToClose[]> {
  const [rows] = await mysql.query<RowDataPacket[]>(
    'SELECT id, user_id FROM orders WHERE activity_id = ? ORDER BY id',
    [activityId],
  );
  return rows.map(({ id, user_id }) => ({ id, userId: user_id.toString('utf8') }));
}

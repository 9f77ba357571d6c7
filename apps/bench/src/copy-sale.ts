import type { Pool as MysqlPool, RowDataPacket } from 'mysql2/promise';
import type { Pool as PostgresPool } from 'pg';

const ordersPerInsert = 10_000;

/** The same activities and orders as in MySQL, for contenders whose orders are in PostgreSQL. */
export async function copySale(mysql: MysqlPool, postgres: PostgresPool): Promise<void> {
  const [activities] = await mysql.query<RowDataPacket[]>('SELECT id, available FROM activity');
  for (const { id, available } of activities)
    await postgres.query('INSERT INTO activity (id, available) VALUES ($1, $2)', [id, available]);
  const [orders] = await mysql.query<RowDataPacket[]>(
    'SELECT LOWER(HEX(id)) AS id, activity_id, CONVERT(user_id USING utf8mb4) AS user_id, expires_at FROM orders ORDER BY id',
  );
  for (let at = 0; at < orders.length; at += ordersPerInsert) {
    const rows = orders.slice(at, at + ordersPerInsert);
    await postgres.query(
      `INSERT INTO orders (id, activity_id, user_id, status, version, expires_at)
       SELECT id, activity_id, user_id, 'PENDING', 1, expires_at
       FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::timestamptz[]) AS o (id, activity_id, user_id, expires_at)`,
      ['id', 'activity_id', 'user_id', 'expires_at'].map((column) => rows.map((row) => row[column])),
    );
  }
}

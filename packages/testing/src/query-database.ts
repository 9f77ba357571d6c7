import { createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';

/**
 * One statement on a test's database, on a connection of its own in UTC: to arrange what no operation can
 * (a moved deadline, a trigger that fails) and to look at what is really there.
 * @returns the rows of a SELECT; an empty list for any other statement.
 */
export async function queryDatabase(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const connection = await createConnection({ uri: url, timezone: 'Z' });
  try {
    await connection.query("SET time_zone = '+00:00'");
    const [rows] = await connection.query<RowDataPacket[] | ResultSetHeader>(sql, [...values]);
    return Array.isArray(rows) ? rows : [];
  } finally {
    await connection.end();
  }
}

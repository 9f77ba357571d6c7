import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';

export interface MysqlSnapshot {
  readonly rows: <R extends object>(sql: string, values?: readonly unknown[]) => Promise<R[]>;
}

/**
 * Read MySQL as it was at one instant, however long the reading takes: a consistent snapshot in a read-only
 * transaction that locks nothing. `NOW(3)` is still the time of each statement.
 */
export async function withMysqlSnapshot<T>(
  url: string,
  use: (snapshot: MysqlSnapshot) => Promise<T>,
): Promise<T> {
  const connection = await createConnection({
    uri: url,
    timezone: 'Z',
    supportBigNumbers: true,
    decimalNumbers: true,
  });
  try {
    await connection.query("SET SESSION time_zone = '+00:00'");
    await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
    const result = await use({ rows: (sql, values) => queryRows(connection, sql, values) });
    await connection.query('COMMIT');
    return result;
  } finally {
    connection.destroy();
  }
}

async function queryRows<R extends object>(
  connection: Connection,
  sql: string,
  values: readonly unknown[] = [],
): Promise<R[]> {
  const [rows] = await connection.query<RowDataPacket[]>(sql, [...values]);
  return rows as R[];
}

/** A BINARY(16) as the text of a UUID. */
export function idToText(id: Buffer): string {
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The text of a UUID as BINARY(16), or undefined when it is none. */
export function idToBytes(text: string): Buffer | undefined {
  const hex = text.replaceAll('-', '');
  return /^[0-9a-f]{32}$/.test(hex) && text.length === 36 ? Buffer.from(hex, 'hex') : undefined;
}

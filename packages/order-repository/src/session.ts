import type { Connection, ResultSetHeader, RowDataPacket } from 'mysql2';

/** What a statement that is not a SELECT did. */
interface Done {
  /** Rows really changed or inserted: FOUND_ROWS is off, so a row set to what it was does not count. */
  readonly affectedRows: number;
  readonly insertId: number;
}

/**
 * One connection of the pool, for the time of one operation. Values are escaped by mysql2's `query`: arrays
 * become lists, so `IN (?)` and `VALUES ?` take them (`execute` matches nothing, silently). `query` costs
 * 19 us a row of a create batch, `execute` 16, knex's builder 34.
 */
export interface Session {
  /** The shop's own systems want to know of each change: see `insertShopEvents`. */
  readonly shopEvents: boolean;
  rows<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  run(sql: string, values?: readonly unknown[]): Promise<Done>;
}

export interface SessionOptions {
  /** Longest time of one statement. */
  readonly queryTimeoutMs: number;
  readonly shopEvents: boolean;
}

/** A Session on a connection. */
export function sessionOn(connection: Connection, { queryTimeoutMs, shopEvents }: SessionOptions): Session {
  const send = <Result>(sql: string, values: readonly unknown[]): Promise<Result> =>
    new Promise((resolve, reject) => {
      connection.query<RowDataPacket[] | ResultSetHeader>(
        { sql, values: [...values], timeout: queryTimeoutMs },
        (error, result) => {
          if (error) reject(error);
          else resolve(result as unknown as Result);
        },
      );
    });
  return {
    shopEvents,
    rows: (sql, values = []) => send(sql, values),
    run: (sql, values = []) => send(sql, values),
  };
}

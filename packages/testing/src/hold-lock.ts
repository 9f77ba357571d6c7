import { createConnection } from 'mysql2/promise';

export interface HeldLock {
  readonly release: () => Promise<void>;
}

/** Keep the rows that a locking read finds from everybody else until they are released: what others would do now, waits. */
export async function holdLock(url: string, sql: string, values: readonly unknown[]): Promise<HeldLock> {
  const connection = await createConnection(url);
  await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  await connection.query('START TRANSACTION');
  await connection.query(sql, [...values]);
  return {
    release: async () => {
      await connection.query('ROLLBACK');
      await connection.end();
    },
  };
}

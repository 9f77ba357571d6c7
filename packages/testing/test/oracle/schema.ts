import type { Connection, RowDataPacket } from 'mysql2/promise';

/** All that a migration needs of knex. */
interface Migrator {
  readonly raw: (sql: string, values?: readonly unknown[]) => Promise<unknown>;
  readonly schema: { readonly hasColumn: (table: string, column: string) => Promise<boolean> };
}

interface Step {
  readonly name: string;
  readonly up: (knex: Migrator) => Promise<void>;
}

/**
 * Make the real tables. The oracle shares no code with the product, and `testing` cannot depend on the
 * repository, which depends on it for its own tests: so the migrations are imported by path, here alone, to judge
 * the schema that is there and not a copy of it.
 */
export async function createSchema(connection: Connection): Promise<void> {
  const path = new URL('../../../order-repository/src/migrations/all-migrations.ts', import.meta.url).href;
  const { allMigrations } = (await import(path)) as { allMigrations: readonly Step[] };
  const raw: Migrator['raw'] = (sql, values) =>
    connection.query(sql, values === undefined ? [] : [...values]);
  const hasColumn = async (table: string, column: string): Promise<boolean> => {
    const [rows] = await connection.query<RowDataPacket[]>(`SHOW COLUMNS FROM ${table} LIKE ?`, [column]);
    return rows.length > 0;
  };
  for (const { up } of allMigrations) await up({ raw, schema: { hasColumn } });
}

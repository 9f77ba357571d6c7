import type { Connection } from 'mysql2/promise';

interface Step {
  readonly name: string;
  readonly up: (knex: { raw: (sql: string) => Promise<unknown> }) => Promise<void>;
}

/**
 * Make the real tables. The oracle shares no code with the product, and `testing` cannot depend on the
 * repository, which depends on it for its own tests: so the migrations are imported by path, here alone, to judge
 * the schema that is there and not a copy of it. A migration needs nothing of knex but `raw`.
 */
export async function createSchema(connection: Connection): Promise<void> {
  const path = new URL('../../../order-repository/src/migrations/all-migrations.ts', import.meta.url).href;
  const { allMigrations } = (await import(path)) as { allMigrations: readonly Step[] };
  for (const { up } of allMigrations) await up({ raw: (sql) => connection.query(sql) });
}

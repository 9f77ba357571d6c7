import { openDatabase } from './database.ts';
import { journalTable } from './migrate.ts';
import { allMigrations } from './migrations/all-migrations.ts';
import { toStoreError } from './mysql-fault.ts';
import type { RepositoryConfig, RepositoryLog } from './order-repository.ts';
import type { ServerConfig } from './server-config.ts';
import { withRetriedSession } from './transaction.ts';

/** The schema as it is, beside what this release wants. */
export interface SchemaState {
  readonly applied: readonly { readonly name: string; readonly at: Date }[];
  /** Not applied yet: `migrate` does it. */
  readonly pending: readonly string[];
  /** Applied by a newer release. Older ones work on with it. */
  readonly unknown: readonly string[];
}

const noSuchTable = 1146;

/** Read which migrations have been applied. Changes nothing, also where there is no schema at all. */
export async function readSchema(
  config: ServerConfig & Pick<RepositoryConfig, 'queryTimeoutMs'>,
  log: RepositoryLog,
): Promise<SchemaState> {
  const database = openDatabase({ ...config, poolMax: 1 }, log);
  try {
    const rows = await withRetriedSession(database, (session) =>
      session.rows<{ name: string; migration_time: Date }>(
        `SELECT name, migration_time FROM ${journalTable} ORDER BY id`,
      ),
    ).catch((error: unknown) => {
      if ((error as { errno?: number }).errno === noSuchTable) return [];
      throw error;
    });
    const names = new Set(rows.map(({ name }) => name));
    const known = allMigrations.map(({ name }) => name);
    return {
      applied: rows.map(({ name, migration_time }) => ({ name, at: migration_time })),
      pending: known.filter((name) => !names.has(name)),
      unknown: [...names].filter((name) => !known.includes(name)),
    };
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await database.close();
  }
}

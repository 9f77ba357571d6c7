import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { type Database, openDatabase } from './database.ts';
import { StoreUnavailableError } from './errors.ts';
import { allMigrations } from './migrations/all-migrations.ts';
import type { Migration } from './migrations/migration.ts';
import { toStoreError } from './mysql-fault.ts';
import type { RepositoryLog } from './order-repository.ts';
import type { ServerConfig } from './server-config.ts';

/** How long to wait while another process migrates. */
const lockWaitS = 120;
/** DDL on a filled table takes its time. */
const statementTimeoutMs = 600_000;
export const journalTable = 'lapse_migration';

/**
 * Bring the schema up to date. Any number of processes may call it at once: one works, the others wait and
 * find it done. The lock is MySQL's GET_LOCK, freed by the server when its connection ends, so a process
 * that dies half way leaves nothing to clear up, and the next one goes on where it stopped.
 * @returns the names of the migrations that this call ran.
 */
export async function migrate(
  config: ServerConfig,
  log: RepositoryLog,
  migrations: readonly Migration[] = allMigrations,
): Promise<{ applied: string[] }> {
  // One connection holds the lock, the second migrates.
  const database = openDatabase({ ...config, poolMax: 2, queryTimeoutMs: statementTimeoutMs }, log);
  try {
    const applied = await withMigrationLock(database, () => runMigrations(database, migrations));
    if (applied.length > 0) log.info({ applied }, 'schema brought up to date');
    return { applied };
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await database.close();
  }
}

async function withMigrationLock<T>(database: Database, use: () => Promise<T>): Promise<T> {
  return database.withSession(async (session) => {
    // Lock names belong to the server, not to the database, and are at most 64 characters.
    const [place] = await session.rows<{ name: string }>('SELECT DATABASE() AS name');
    const lock = `lapse-migrate-${createHash('sha256').update(`${place?.name}`).digest('hex').slice(0, 32)}`;
    const [answer] = await session.rows<{ got: number | null }>('SELECT GET_LOCK(?, ?) AS got', [
      lock,
      lockWaitS,
    ]);
    if (answer?.got !== 1) {
      throw new StoreUnavailableError(`another process has been migrating it for more than ${lockWaitS} s`);
    }
    // It says nothing while the other one works, and must not be ended for that.
    await session.run('SET SESSION wait_timeout = 86400');
    try {
      return await use();
    } finally {
      await session.run('DO RELEASE_LOCK(?)', [lock]);
    }
  });
}

/** knex is loaded here, by the process that migrates: the others must not pay for it at each start. */
async function runMigrations(database: Database, migrations: readonly Migration[]): Promise<string[]> {
  const { default: knexModule } = await import('knex');
  const knex = knexModule.knex({ client: 'mysql2', connectionPool: database.pool, log: silent });
  const config: Knex.MigratorConfig = {
    tableName: journalTable,
    // DDL commits by itself: a transaction around it would promise what MySQL does not keep.
    disableTransactions: true,
    // An older release that starts beside a newer one meets migrations that it does not know.
    disableMigrationsListValidation: true,
    migrationSource: {
      getMigrations: async () => [...migrations],
      getMigrationName: (migration) => migration.name,
      getMigration: async ({ up }) => ({ up, down: refuseDown }),
    } satisfies Knex.MigrationSource<Migration>,
  };
  // knex's own lock row outlives a process that died with it. Under GET_LOCK nobody else can hold it.
  await knex.migrate.forceFreeMigrationsLock(config);
  const [, applied] = (await knex.migrate.latest(config)) as [number, string[]];
  return applied;
}

/** knex prints what it also throws; once is enough. */
const silent: Knex.Logger = {
  warn: () => undefined,
  error: () => undefined,
  deprecate: () => undefined,
  debug: () => undefined,
};

async function refuseDown(): Promise<void> {
  throw new Error('the schema only moves forward');
}

import knexModule, { type Knex } from 'knex';
import type { Connection } from 'mysql2';
import { isConnectionLost } from './mysql-fault.ts';
import type { RepositoryConfig, RepositoryLog } from './order-repository.ts';
import { type Session, sessionOn } from './session.ts';

const connectTimeoutMs = 3_000;
/** Longest an operation waits for a free connection, or for MySQL to take a new one. */
const acquireTimeoutMs = 3_000;
/** Longest one statement waits for a row's lock. Transactions here last milliseconds. */
const lockWaitTimeoutS = 3;
const idleTimeoutMs = 60_000;
/**
 * After which the server itself ends a session that says nothing, and so frees the locks of a process that is
 * frozen, or whose machine is gone: by default it waits for hours, and an activity stands still as long.
 * Longer than the pool keeps an idle connection. MariaDB can be stricter inside a transaction: none is silent for
 * long, since a rebuild says something every few seconds while it loads Redis.
 */
const silentSessionS = 90;
const silentTransactionS = 30;

/** The pool. Opened once per process. */
export interface Database {
  readonly knex: Knex;
  readonly queryTimeoutMs: number;
  /** Lend a connection for the time of `use`. A connection that failed as such is destroyed, not reused. */
  withSession<T>(use: (session: Session, destroy: () => void) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The two calls of knex's client that lend a raw connection; knex types the client as `any`. */
interface ConnectionLender {
  acquireConnection(): Promise<Connection>;
  releaseConnection(connection: Connection): Promise<void>;
}

/** Every session alike, whatever the server's own defaults are. */
const sessionStatements = [
  "SET SESSION time_zone = '+00:00'," +
    " sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'," +
    ` innodb_lock_wait_timeout = ${lockWaitTimeoutS}, lock_wait_timeout = 60, wait_timeout = ${silentSessionS}` +
    // MariaDB turns IN lists of a thousand values into a join with a temporary table: then the order of the
    // locks is that table's, not the index's. MySQL reads a comment here.
    ' /*M!100600 , in_predicate_conversion_threshold = 0 */' +
    ` /*M!100300 , idle_transaction_timeout = ${silentTransactionS} */`,
  // At REPEATABLE READ one missing id, or a range, locks the gap where new orders go in.
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
];

/** Does not connect yet: the first use does. */
export function openDatabase(config: RepositoryConfig, log: RepositoryLog): Database {
  // Through the module object: Node finds no named exports in this CommonJS package.
  const pool = knexModule.knex({
    client: 'mysql2',
    connection: connectionOptions(config.url),
    acquireConnectionTimeout: acquireTimeoutMs,
    pool: { min: 0, max: config.poolMax, idleTimeoutMillis: idleTimeoutMs, afterCreate: prepareSession },
    log: {
      // knex prints what it also throws; once is enough.
      warn: () => undefined,
      error: (message: unknown) => log.error({ source: 'knex' }, String(message)),
      deprecate: () => undefined,
      debug: () => undefined,
    },
  });
  const lender: ConnectionLender = pool.client;
  const sessionOptions = {
    queryTimeoutMs: config.queryTimeoutMs,
    shopEvents: config.shopEvents ?? false,
  };

  return {
    knex: pool,
    queryTimeoutMs: config.queryTimeoutMs,
    withSession: async (use) => {
      const connection = await lender.acquireConnection();
      try {
        return await use(sessionOn(connection, sessionOptions), () => connection.destroy());
      } catch (error) {
        if (isConnectionLost(error)) connection.destroy();
        throw error;
      } finally {
        await lender.releaseConnection(connection);
      }
    },
    close: () => pool.destroy(),
  };
}

function connectionOptions(text: string): Knex.MySql2ConnectionConfig {
  const url = new URL(text);
  return {
    host: url.hostname,
    port: Number(url.port || 3306),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    charset: 'utf8mb4',
    // With the session in UTC, DATETIME(3) round-trips exactly.
    timezone: 'Z',
    supportBigNumbers: true,
    // Without it an object in place of a value may become SQL, as in SET ?.
    stringifyObjects: true,
    connectTimeout: connectTimeoutMs,
    // So that affectedRows says how many rows changed: an INSERT that met a duplicate counts 0.
    flags: '-FOUND_ROWS',
    ...(url.searchParams.get('tls') === 'true' ? { ssl: { rejectUnauthorized: true } } : {}),
  };
}

function prepareSession(connection: Connection, done: (error: Error | null) => void): void {
  const [first = '', second = ''] = sessionStatements;
  connection.query({ sql: first, timeout: connectTimeoutMs }, (error) => {
    if (error) {
      connection.destroy();
      return done(error);
    }
    connection.query({ sql: second, timeout: connectTimeoutMs }, (failure) => {
      if (failure) connection.destroy();
      done(failure);
    });
  });
}

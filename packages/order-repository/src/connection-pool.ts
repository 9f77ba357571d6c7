import { type Connection, createConnection } from 'mysql2';
import { Pool } from 'tarn';
import type { RepositoryLog } from './order-repository.ts';
import type { ServerConfig } from './server-config.ts';

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

export interface PoolConfig extends ServerConfig {
  readonly poolMax: number;
  /** MySQL itself refuses every write: for a process that only looks. */
  readonly readOnly?: boolean;
}

const readOnlyStatement = 'SET SESSION TRANSACTION READ ONLY';

export type ConnectionPool = Pool<Connection>;

/**
 * Connections to MySQL, every session set up alike before it is lent. None is opened before the first use, one that
 * broke is not lent again, and one that idles for a minute is closed. `acquire` rejects after 3 s: with tarn's
 * TimeoutError when none came free, with the driver's error when MySQL took no new one.
 *
 * mysql2's own pool was looked at and left: who waits for a connection there waits for ever, and a session that could
 * not be set up is lent all the same. knex, which lends through this same library, is loaded for migrations alone: it
 * is a fourth of the files that a worker would read at its start.
 */
export function openConnectionPool(
  { poolMax, readOnly = false, ...server }: PoolConfig,
  log: RepositoryLog,
): ConnectionPool {
  const options = connectionOptions(server);
  const statements = readOnly ? [...sessionStatements, readOnlyStatement] : sessionStatements;
  return new Pool<Connection>({
    create: () => connect(options, statements),
    destroy: disconnect,
    validate: ({ state }) => state === 'authenticated' || state === 'connected',
    min: 0,
    max: poolMax,
    propagateCreateError: true,
    acquireTimeoutMillis: acquireTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    log: (message) => log.warn({ source: 'pool' }, message),
  });
}

async function connect(options: ConnectionOptions, statements: readonly string[]): Promise<Connection> {
  const connection = createConnection(options);
  // It fails whoever uses it, and `validate` finds it broken; without a listener it would end the process.
  connection.on('error', () => undefined);
  try {
    await new Promise<void>((resolve, reject) => {
      connection.connect((error) => (error ? reject(error) : resolve()));
    });
    for (const sql of statements) {
      await new Promise<void>((resolve, reject) => {
        connection.query({ sql, timeout: connectTimeoutMs }, (error) => (error ? reject(error) : resolve()));
      });
    }
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

/** Resolves in any case: one that cannot be told to end is gone already. */
function disconnect(connection: Connection): Promise<void> {
  return new Promise((resolve) => connection.end(() => resolve()));
}

type ConnectionOptions = ReturnType<typeof connectionOptions>;

function connectionOptions({ url: text, tls = false, tlsCa, tlsCert, tlsKey }: ServerConfig) {
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
    flags: ['-FOUND_ROWS'],
    ...(tls && {
      ssl: {
        rejectUnauthorized: true,
        // Off by default: then any certificate of the CA would do, whoever shows it.
        verifyIdentity: true,
        ...(tlsCa !== undefined && { ca: tlsCa }),
        ...(tlsCert !== undefined && { cert: tlsCert }),
        ...(tlsKey !== undefined && { key: tlsKey }),
      },
    }),
  };
}

import { Pool } from 'pg';
import { createLatencies, type Latencies } from './latencies.ts';

/** What is asked of an activity after a run. */
export interface ActivityCounts {
  readonly total: number;
  readonly closed: number;
  readonly early: number;
  readonly free: number;
}

/** A database of one run alone in PostgreSQL: the orders and the activities of contenders that are at home there. */
export interface PostgresStore {
  readonly url: string;
  readonly pool: Pool;
  readonly setDeadline: (dueAtMs: number) => Promise<void>;
  /** Free places of all activities together. */
  readonly countFree: () => Promise<number>;
  readonly countActivity: (activityId: number) => Promise<ActivityCounts>;
  /** How late each order was closed, both times by this database's clock. */
  readonly readLateness: () => Promise<Latencies & { readonly early: number }>;
  /** Drops the database. */
  readonly close: () => Promise<void>;
}

/**
 * No more than the close needs: one index, and room in each page of orders, so that an update stays within it. MySQL
 * keeps more columns and indexes, so this is in favour of the contender.
 */
const schema = `
  CREATE TABLE activity (id bigint PRIMARY KEY, available integer NOT NULL) WITH (fillfactor = 50);
  CREATE TABLE orders (
    id uuid PRIMARY KEY,
    activity_id bigint NOT NULL REFERENCES activity,
    user_id text NOT NULL,
    status text NOT NULL,
    version integer NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    closed_at timestamptz(3)
  ) WITH (fillfactor = 50);`;

/** @param serverUrl of any database of the server. */
export async function openPostgresStore(serverUrl: string, name: string): Promise<PostgresStore> {
  await withServer(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const pool = openPool(url.href, 2);
  const numberOf = async (sql: string): Promise<number> => Number((await pool.query(sql)).rows[0]?.n);
  await pool.query(schema);
  return {
    url: url.href,
    pool,
    setDeadline: async (dueAtMs) => {
      await pool.query('UPDATE orders SET expires_at = $1', [new Date(dueAtMs)]);
      // The dead rows of this update are no contender's work.
      await pool.query('VACUUM ANALYZE orders');
    },
    countFree: () => numberOf('SELECT SUM(available) AS n FROM activity'),
    countActivity: async (activityId) => {
      const { rows } = await pool.query(
        `SELECT COUNT(*)::int AS total, COUNT(*) FILTER (WHERE status = 'TIMEOUT_CLOSED')::int AS closed,
           COUNT(*) FILTER (WHERE closed_at < expires_at)::int AS early,
           (SELECT available FROM activity WHERE id = $1) AS free
         FROM orders WHERE activity_id = $1`,
        [activityId],
      );
      return rows[0];
    },
    readLateness: () => readLateness(pool),
    close: async () => {
      await pool.end();
      await withServer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function readLateness(pool: Pool): Promise<Latencies & { readonly early: number }> {
  const { rows } = await pool.query(
    `SELECT (EXTRACT(EPOCH FROM closed_at - expires_at) * 1000)::int AS ms, COUNT(*)::int AS n
     FROM orders WHERE closed_at IS NOT NULL GROUP BY ms`,
  );
  const histogram = createLatencies();
  let early = 0;
  for (const { ms, n } of rows) {
    if (ms < 0) early += n;
    else histogram.record(ms, n);
  }
  return { ...histogram.read(), early };
}

async function withServer(connectionString: string, sql: string): Promise<void> {
  const server = openPool(connectionString, 1);
  try {
    await server.query(sql);
  } finally {
    await server.end();
  }
}

/** A connection that the server ends while nobody uses it is no fault: whoever asks next gets another one, or an error. */
function openPool(connectionString: string, max: number): Pool {
  return new Pool({ connectionString, max }).on('error', () => undefined);
}

import { Logger, run } from 'graphile-worker';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import type { Sale } from '../../sale.ts';
import { closeInPostgres, type PostgresOrder, readPostgresOrders } from '../close-in-postgres.ts';
import type { CloseContender } from '../contender.ts';

const task = 'close';
/** Its SQL function add_jobs takes many in one statement. */
const jobsPerCall = 1_000;
/** The numbers in the docs' page on performance: as many jobs at once, and a connection more. */
const concurrency = 24;
const connections = 25;
/** A job of the future is found by polling; LISTEN tells of new ones only. Half the default, for a smaller lateness. */
const pollInterval = 1_000;

const silent = new Logger(() => (level, message) => {
  if (level === 'error') process.stderr.write(`${message}\n`);
});

export const graphileWorker: CloseContender = {
  name: 'graphile-worker',
  about: `Graphile Worker on PostgreSQL, orders there as well: add_jobs with run_at, one worker with concurrency ${concurrency}, poll every ${pollInterval} ms`,
  judgedBy: 'counts',
  ordersMax: 10_000,
  queue: null,
  database: 'postgres',
  armMs: (orders) => 1_500 + orders / 2,
  arm,
  work,
};

async function arm({ postgresUrl }: Sale, dueAtMs: number): Promise<void> {
  const pgPool = new Pool({ connectionString: postgresUrl, max: 2 });
  const orders = await readPostgresOrders(pgPool);
  const run_at = new Date(dueAtMs);
  for (let at = 0; at < orders.length; at += jobsPerCall) {
    const jobs = orders.slice(at, at + jobsPerCall).map((payload) => ({ identifier: task, payload, run_at }));
    await pgPool.query(
      `SELECT COUNT(*) FROM graphile_worker.add_jobs(
         ARRAY(SELECT json_populate_recordset(NULL::graphile_worker.job_spec, $1::json)))`,
      [JSON.stringify(jobs)],
    );
  }
  await pgPool.end();
}

async function work({ postgresUrl, redisUrl, activityId }: Sale, ready: () => void): Promise<void> {
  const redis = new Redis(redisUrl);
  const pgPool = new Pool({ connectionString: postgresUrl, max: connections });
  await run({
    pgPool,
    concurrency,
    pollInterval,
    logger: silent,
    taskList: {
      [task]: (order, { withPgClient }) =>
        withPgClient((client) => closeInPostgres(client, redis, activityId, order as PostgresOrder)),
    },
  });
  ready();
}

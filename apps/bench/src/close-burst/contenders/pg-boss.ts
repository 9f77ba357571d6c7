import { Redis } from 'ioredis';
import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import type { Sale } from '../../sale.ts';
import { closeInPostgres, type PostgresOrder, readPostgresOrders } from '../close-in-postgres.ts';
import type { CloseContender } from '../contender.ts';

const queueName = 'close';
const jobsPerCall = 1_000;
const connections = 10;
/** The shortest that it takes. A worker whose batch took longer looks again at once, so no batch waits in a burst. */
const pollingIntervalSeconds = 0.5;
const batchSize = 500;
const workers = 2;

export const pgBoss: CloseContender = {
  name: 'pg-boss',
  about: `pg-boss on PostgreSQL, orders there as well: insert with startAfter, ${workers} workers in one process, batches of ${batchSize}, poll every ${pollingIntervalSeconds} s`,
  judgedBy: 'counts',
  ordersMax: 10_000,
  queue: null,
  database: 'postgres',
  armMs: (orders) => 1_500 + orders / 2,
  arm,
  work,
};

async function start({ postgresUrl }: Sale): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: postgresUrl });
  boss.on('error', (error) => process.stderr.write(`${error.stack}\n`));
  await boss.start();
  await boss.createQueue(queueName);
  return boss;
}

async function arm(sale: Sale, dueAtMs: number): Promise<void> {
  const pool = new Pool({ connectionString: sale.postgresUrl, max: 1 });
  const orders = await readPostgresOrders(pool);
  await pool.end();
  const boss = await start(sale);
  const startAfter = new Date(dueAtMs);
  for (let at = 0; at < orders.length; at += jobsPerCall) {
    await boss.insert(
      orders.slice(at, at + jobsPerCall).map((data) => ({ name: queueName, data, startAfter })),
    );
  }
  await boss.stop();
}

async function work(sale: Sale, ready: () => void): Promise<void> {
  const redis = new Redis(sale.redisUrl);
  const pool = new Pool({ connectionString: sale.postgresUrl, max: connections });
  const boss = await start(sale);
  for (let worker = 0; worker < workers; worker += 1) {
    await boss.work<PostgresOrder>(queueName, { batchSize, pollingIntervalSeconds }, async (jobs) => {
      await Promise.all(jobs.map(({ data }) => closeInPostgres(pool, redis, sale.activityId, data)));
    });
  }
  ready();
}

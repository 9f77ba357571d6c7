import { randomBytes } from 'node:crypto';
import { migrate } from '@lapse/order-repository';
import { Redis } from 'ioredis';
import { createConnection, createPool, type Pool } from 'mysql2/promise';
import { openPostgresStore, type PostgresStore } from './open-postgres-store.ts';
import { quietLog } from './quiet-log.ts';
import type { BenchServices } from './services.ts';

/** A database of one run alone, and a Redis that holds nothing else. */
export interface RunStores {
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  readonly mysql: Pool;
  readonly redis: Redis;
  /** Only for contenders whose orders are there. */
  readonly postgres: PostgresStore | undefined;
  /** Drops the databases. */
  readonly close: () => Promise<void>;
}

/**
 * Every run begins with an empty schema and an empty Redis, so that none is slowed down by what an earlier one left.
 * The Redis database of the address is emptied: it must be one of the bench alone.
 */
export async function openStores(
  services: Pick<BenchServices, 'mysqlUrl' | 'redisUrl'>,
  postgresUrl = '',
): Promise<RunStores> {
  const name = `lapse_b_${randomBytes(6).toString('hex')}`;
  await withServer(services.mysqlUrl, `CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
  const url = new URL(services.mysqlUrl);
  url.pathname = `/${name}`;
  await migrate({ url: url.href }, quietLog);
  const mysql = createPool({ uri: url.href, timezone: 'Z', connectionLimit: 2, decimalNumbers: true });
  const redis = new Redis(services.redisUrl);
  await redis.flushdb();
  const postgres = postgresUrl === '' ? undefined : await openPostgresStore(postgresUrl, name);
  return {
    mysqlUrl: url.href,
    redisUrl: services.redisUrl,
    mysql,
    redis,
    postgres,
    close: async () => {
      await postgres?.close();
      redis.disconnect();
      await mysql.end();
      await withServer(services.mysqlUrl, `DROP DATABASE IF EXISTS ${name}`);
    },
  };
}

async function withServer(url: string, sql: string): Promise<void> {
  const server = await createConnection({ uri: url });
  try {
    await server.query(sql);
  } finally {
    await server.end();
  }
}

import { cpus, release, totalmem, type } from 'node:os';
import { Redis } from 'ioredis';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { Machine } from './result.ts';
import type { BenchServices } from './services.ts';

/** What decides whether a commit is on disk, and how fast. */
const mysqlSettings = [
  'innodb_flush_log_at_trx_commit',
  'innodb_flush_method',
  'innodb_buffer_pool_size',
  'sync_binlog',
  'log_bin',
] as const;
const redisSettings = ['appendonly', 'appendfsync', 'save'] as const;

/** On what was measured. */
export async function describeMachine({ mysqlUrl, redisUrl }: BenchServices): Promise<Machine> {
  const [mysql, redis] = [await askMysql(mysqlUrl), await askRedis(redisUrl)];
  return {
    cpu: cpus()[0]?.model.trim() || 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    node: process.version,
    versions: { mysql: mysql.version, redis: redis.version },
    settings: { ...mysql.settings, ...redis.settings },
  };
}

async function askMysql(url: string) {
  const connection = await createConnection({ uri: url });
  const [[row]] = await connection.query<RowDataPacket[]>('SELECT VERSION() AS version');
  const [rows] = await connection.query<RowDataPacket[]>('SHOW GLOBAL VARIABLES WHERE Variable_name IN (?)', [
    mysqlSettings,
  ]);
  await connection.end();
  const settings = Object.fromEntries(
    rows.map((each) => [`mysql ${each.Variable_name}`, String(each.Value)]),
  );
  return { version: String(row?.version), settings };
}

async function askRedis(url: string) {
  const redis = new Redis(url);
  const version = /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1] ?? 'unknown';
  const settings: Record<string, string> = {};
  for (const name of redisSettings) settings[`redis ${name}`] = await readSetting(redis, name);
  redis.disconnect();
  return { version, settings };
}

/** A list in one version of the protocol, a map in the other. */
async function readSetting(redis: Redis, name: string): Promise<string> {
  const answer: unknown = await redis.config('GET', name);
  if (Array.isArray(answer)) return String(answer[1] ?? '');
  return String((answer as Record<string, unknown> | null)?.[name] ?? '');
}

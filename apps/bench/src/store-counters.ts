import type { Redis } from 'ioredis';
import type { Pool, RowDataPacket } from 'mysql2/promise';

/** Counters that only rise, by name. */
type Counters = Readonly<Record<string, number>>;

/** What MySQL counts of its statements and its log, since it started. */
const mysqlNames = [
  'Questions',
  'Com_begin',
  'Com_select',
  'Com_insert',
  'Com_insert_select',
  'Com_update',
  'Com_delete',
  'Com_commit',
  'Com_rollback',
  'Innodb_os_log_fsyncs',
  'Innodb_data_fsyncs',
  'Innodb_os_log_written',
  'Innodb_row_lock_waits',
  'Innodb_deadlocks',
  'Bytes_received',
  'Bytes_sent',
] as const;

async function readMysqlCounters(mysql: Pool): Promise<Counters> {
  const [rows] = await mysql.query<RowDataPacket[]>('SHOW GLOBAL STATUS WHERE Variable_name IN (?)', [
    mysqlNames,
  ]);
  return Object.fromEntries(rows.map(({ Variable_name, Value }) => [String(Variable_name), Number(Value)]));
}

/** Calls of each command, those inside scripts included. */
async function readRedisCounters(redis: Redis): Promise<Counters> {
  return parseCommandStats(await redis.info('commandstats'));
}

export function parseCommandStats(info: string): Counters {
  return Object.fromEntries(
    [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name, calls]) => [name, Number(calls)]),
  );
}

export interface StoreCounters {
  readonly sql: Counters;
  readonly redis: Counters;
}

export async function readStoreCounters(stores: { mysql: Pool; redis: Redis }): Promise<StoreCounters> {
  return { sql: await readMysqlCounters(stores.mysql), redis: await readRedisCounters(stores.redis) };
}

/** How much each rose; those that did not are left out. */
export function counted(before: Counters, after: Counters): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after)
      .map(([name, value]) => [name, value - (before[name] ?? 0)] as const)
      .filter(([, rise]) => rise > 0),
  );
}

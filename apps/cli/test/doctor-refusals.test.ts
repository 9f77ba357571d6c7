import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisService, startRedis } from '@lapse/local-services';
import { createTestDatabase, queryDatabase, redisAt, type TestDatabase } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entryFix } from '../src/doctor/entry-fix.ts';
import { doctorShape } from '../src/shapes/doctor.ts';
import { openCli } from './cli.ts';

let folder: string;
let redis: RedisService;
let database: TestDatabase;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lapse-doctor-'));
  redis = await startRedis({ dir: folder, log: () => undefined });
  database = await createTestDatabase();
});
afterAll(async () => {
  await redis?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** What the doctor says mends the failed check of a store. */
async function fixOf(check: string, change: Record<string, string> = {}): Promise<string | undefined> {
  const env = { LAPSE_MYSQL_URL: database.url, LAPSE_REDIS_URL: redis.url, ...change };
  const { data } = await openCli(env).json(doctorShape, 'doctor');
  const failed = data.checks.filter(({ state }) => state === 'fail');
  return failed.find((one) => `${one.area} ${one.check}` === check)?.fix;
}
const config = (name: string, value: string | number) =>
  redisAt(redis.url).command('CONFIG', 'SET', name, value);
const root = (sql: string) => queryDatabase(database.url, sql);

describe('a Redis that is there and does not serve', () => {
  test('it wants a password: which setting has it', async () => {
    await config('requirepass', 'secret');
    expect(await fixOf('redis reachable')).toContain('correct user and password in LAPSE_REDIS_URL');
    const known = new URL(redis.url);
    known.password = 'secret';
    await redisAt(known.href).command('CONFIG', 'SET', 'requirepass', '');
  });

  test('a replica that has lost its master: the address is wrong, and not the network', async () => {
    await redisAt(redis.url).command('REPLICAOF', '127.0.0.1', 1);
    await config('replica-serve-stale-data', 'no');
    expect(await fixOf('redis reachable')).toContain('LAPSE_REDIS_URL must name the master');
    await redisAt(redis.url).command('REPLICAOF', 'NO', 'ONE');
  });

  test('one that answers and takes no writes: its replicas are away, or its memory is full', async () => {
    expect([await fixOf('redis replicas'), await fixOf('redis memory')]).toEqual([undefined, undefined]);
    await config('min-replicas-to-write', 1);
    expect(await fixOf('redis replicas')).toContain('min-replicas-to-write');
    await config('min-replicas-to-write', 0);
    await config('maxmemory', 1);
    expect(await fixOf('redis memory')).toContain('raise maxmemory');
    await config('maxmemory', 0);
  });
});

describe('a MySQL that is there and does not serve', () => {
  test('the database is not there', async () => {
    const url = new URL(database.url);
    url.pathname = '/nothing_here';
    expect(await fixOf('mysql reachable', { LAPSE_MYSQL_URL: url.href })).toContain('create the database');
  });

  test('its user may do too little there, or the password is wrong', async () => {
    const url = new URL(database.url);
    [url.username, url.password] = [`u${url.pathname.slice(-16)}`, 'secret'];
    await root(`CREATE USER '${url.username}'@'%' IDENTIFIED BY 'secret'`);
    await root(`GRANT INSERT ON ${url.pathname.slice(1)}.* TO '${url.username}'@'%'`);
    await root('CREATE TABLE lapse_migration (name INT)');
    expect(await fixOf('mysql reachable', { LAPSE_MYSQL_URL: url.href })).toMatch(/^give the user .* rights/);
    url.password = 'another';
    expect(await fixOf('mysql reachable', { LAPSE_MYSQL_URL: url.href })).toContain('correct user, password');
    await root(`DROP USER '${url.username}'@'%'`);
  });
});

test('what a store answers is known by its code, wherever in the causes it is; other words are not a refusal', () => {
  const said = (text: string) => new Error(`Redis is not available to answer a ping: ${text}`);
  const coded = (code: string) => new Error('away', { cause: Object.assign(new Error('no'), { code }) });
  expect(entryFix('redis', said('MISCONF Redis is configured to save'))).toContain('free its disk');
  expect(entryFix('redis', said('READONLY You can’t write against a read only replica'))).toContain('master');
  expect(entryFix('redis', said('BUSY Redis is busy running a script'))).toContain('SCRIPT KILL');
  expect(entryFix('redis', said('OOM command not allowed'))).toContain('maxmemory');
  expect(entryFix('redis', said('ERR max number of clients reached'))).toContain('raise maxclients');
  expect(entryFix('mysql', coded('ER_CON_COUNT_ERROR'))).toContain('max_connections');
  expect(entryFix('mysql', coded('ER_OPTION_PREVENTS_STATEMENT'))).toContain('primary');
  expect(entryFix('rocketmq', coded('LAPSE_TOPICS_REFUSED'))).toContain('LAPSE_ROCKETMQ_ACCESS_KEY');
  expect(entryFix('redis', said('connect ECONNREFUSED 127.0.0.1:1'))).toBeUndefined();
  expect(entryFix('mysql', coded('constructor'))).toBeUndefined();
});

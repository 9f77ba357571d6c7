import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openShop, type Shop } from '@lapse/test-shop';
import { createTestDatabase, createTestRedis, testRocketmq, testTopicPrefix } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doctorShape } from '../src/shapes/doctor.ts';
import { migrateShape, schemaShape, topicsShape } from '../src/shapes/schema.ts';
import { type Cli, envOf, openCli } from './cli.ts';

let shop: Shop;
let env: Record<string, string>;
let cli: Cli;
beforeAll(async () => {
  shop = await openShop();
  const { endpoints, namesrv } = testRocketmq();
  env = {
    ...envOf(shop),
    LAPSE_ROCKETMQ_ENDPOINTS: endpoints,
    LAPSE_ROCKETMQ_NAMESRV: namesrv,
    LAPSE_ROCKETMQ_TOPIC_PREFIX: testTopicPrefix(),
  };
  cli = openCli(env);
});
afterAll(() => shop?.close());

const away = { LAPSE_REDIS_COMMAND_TIMEOUT: '100ms', LAPSE_REDIS_URL: 'redis://127.0.0.1:1' };

describe('doctor', () => {
  test('finds nothing wrong once topics and schema are there', async () => {
    const applied = await cli.json(topicsShape, 'topics', 'apply');
    expect(applied.data.topics).toHaveLength(2);
    const { code, data } = await cli.json(doctorShape, 'doctor');
    expect(data.checks.filter(({ state }) => state === 'fail')).toEqual([]);
    expect([code, data.ok]).toEqual([0, true]);
    const areas = new Set(data.checks.map(({ area }) => area));
    expect([...areas].sort()).toEqual(['mysql', 'redis', 'rocketmq', 'settings']);
  });

  test('topics that are missing: each is named with the command that makes them; exit code 1', async () => {
    const other = openCli({ ...env, LAPSE_ROCKETMQ_TOPIC_PREFIX: testTopicPrefix() });
    const { code, data } = await other.json(doctorShape, 'doctor');
    expect(code).toBe(1);
    const failed = data.checks.filter(({ state }) => state === 'fail');
    expect(failed.every(({ area, fix }) => area === 'rocketmq' && fix?.includes('lapse topics apply'))).toBe(
      true,
    );
    expect(failed.filter(({ says }) => says === 'there is no such topic')).toHaveLength(2);
    expect(failed.map(({ says }) => says).join()).not.toContain('https://');
  });

  test('a schema that is behind, and a Redis that is away, do not hide each other', async () => {
    const empty = await createTestDatabase();
    const { code, data } = await openCli({ ...env, ...away, LAPSE_MYSQL_URL: empty.url }).json(
      doctorShape,
      'doctor',
    );
    await empty.drop();
    const failed = data.checks
      .filter(({ state }) => state === 'fail')
      .map(({ area, check }) => `${area} ${check}`);
    expect([code, failed]).toEqual([1, ['mysql schema', 'redis reachable']]);
  });

  test('stores that are there and do not let us in: each is named with what mends it', async () => {
    const mysql = new URL(shop.databaseUrl);
    mysql.hostname = 'localhost';
    const redis = new URL(shop.redisUrl);
    redis.username = 'nobody';
    redis.password = 'hunter2';
    const wrong = { LAPSE_MYSQL_URL: mysql.href, LAPSE_MYSQL_TLS: 'true', LAPSE_REDIS_URL: redis.href };
    const refused = openCli({ ...env, ...wrong });
    const { code, data } = await refused.json(doctorShape, 'doctor');
    const failed = data.checks.filter(({ state }) => state === 'fail');
    expect([code, failed.map(({ area, check }) => `${area} ${check}`)]).toEqual([
      1,
      ['mysql reachable', 'redis reachable'],
    ]);
    const [fixMysql, fixRedis] = failed.map(({ fix }) => fix);
    expect(fixMysql).toContain('LAPSE_MYSQL_TLS_CA_FILE');
    expect(fixRedis).toContain('correct user and password in LAPSE_REDIS_URL');
    expect(JSON.stringify(data)).not.toContain('hunter2');
    const shown = await refused.run('order', 'show', '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001');
    expect([shown.code, shown.err]).toEqual([3, expect.stringMatching(/^lapse: LAPSE_MYSQL_TLS: /)]);
  });

  test('a Redis that may throw stock away when its memory is full, or is too old, is a failed check', async () => {
    const { checkRedis } = await import('../src/doctor/check-redis.ts');
    const { openStock } = await import('@lapse/stock');
    const { log } = await import('@lapse/test-shop');
    const redis = await createTestRedis();
    const stock = await openStock({ url: redis.url, commandTimeoutMs: 2_000 }, log);
    const [server] = await stock.describeServers();
    if (!server) throw new Error('it is there');
    const failedOf = async (change: Partial<typeof server>) => {
      const changed = { ...stock, describeServers: async () => [{ ...server, ...change }] };
      return (await checkRedis(changed)).filter(({ state }) => state === 'fail');
    };
    const failed = await failedOf({ evictionPolicy: 'allkeys-lru' });
    expect(failed).toMatchObject([{ check: 'eviction', fix: expect.stringContaining('noeviction') }]);
    expect(await failedOf({})).toEqual([]);
    // It lacks a command of the reserve: no order could be placed.
    expect(await failedOf({ version: '6.0.16' })).toMatchObject([
      { check: 'version', fix: 'Redis 6.2 or newer' },
    ]);
    for (const version of ['6.2.0', '7.0.15', '10.0.0']) expect(await failedOf({ version })).toEqual([]);
    await stock.close();
    await redis.close();
  });

  test('settings that are missing or misspelt are named, each once, and what can be looked at is', async () => {
    const { LAPSE_ROCKETMQ_ENDPOINTS: _none, ...rest } = env;
    const { code, data } = await openCli({ ...rest, LAPSE_REDIS_ULR: 'x' }).json(doctorShape, 'doctor');
    expect(code).toBe(1);
    const failed = data.checks.filter(({ state }) => state === 'fail').map(({ check }) => check);
    expect(failed.sort()).toEqual(['LAPSE_REDIS_ULR', 'LAPSE_ROCKETMQ_ENDPOINTS']);
    expect(data.checks.some(({ area, state }) => area === 'mysql' && state === 'ok')).toBe(true);
  });
});

test('schema: status says what is pending with exit code 1; migrate applies it once', async () => {
  const empty = await createTestDatabase();
  const fresh = openCli({ ...env, LAPSE_MYSQL_URL: empty.url });
  const before = await fresh.json(schemaShape, 'schema', 'status');
  expect([before.code, before.data.applied]).toEqual([1, []]);
  const migrated = await fresh.json(migrateShape, 'schema', 'migrate');
  expect(migrated.data.applied).toEqual(before.data.pending);
  expect((await fresh.json(migrateShape, 'schema', 'migrate')).data.applied).toEqual([]);
  expect((await fresh.json(schemaShape, 'schema', 'status')).code).toBe(0);
  await empty.drop();
});

describe('exit codes', () => {
  const orderId = '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001';

  test('3, and one line with its code, when MySQL does not answer; with --json as JSON', async () => {
    const down = openCli({ ...env, LAPSE_MYSQL_URL: 'mysql://lapse@127.0.0.1:1/lapse' });
    const text = await down.run('order', 'show', orderId);
    expect([text.code, text.out]).toEqual([3, '']);
    expect(text.err).toMatch(/^lapse: LAPSE_MYSQL_UNAVAILABLE: .*\n$/);
    const json = await down.run('order', 'show', orderId, '--json');
    expect(JSON.parse(json.err)).toMatchObject({ error: { code: 'LAPSE_MYSQL_UNAVAILABLE' } });
  });

  test('3 when Redis does not answer, and nothing was noted as done', async () => {
    const { id } = await shop.orders.createActivity({
      ...{ name: 'x', capacity: 1, priceMinor: 1, currency: 'CNY', saleStartsAt: null, saleEndsAt: null },
      ...{ payWithinMs: 60_000, remindAfterMs: 30_000, quantityMax: 1 },
      ...{ latePaymentPolicy: 'refund', paymentGraceMs: 0 },
    });
    const ran = await openCli({ ...env, ...away }).run(
      'stock',
      'rebuild',
      `${id}`,
      '--apply',
      '--reason',
      'x',
    );
    expect([ran.code, ran.err]).toEqual([3, expect.stringContaining('LAPSE_STOCK_UNAVAILABLE')]);
    expect(await shop.query('SELECT 1 FROM operator_action')).toEqual([]);
  });

  test('2, and the command that tells more, where the tables are not those of this release', async () => {
    const empty = await createTestDatabase();
    const ran = await openCli({ ...env, LAPSE_MYSQL_URL: empty.url }).run('order', 'show', orderId);
    await empty.drop();
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('LAPSE_SCHEMA_BEHIND')]);
    expect(ran.err).toContain('lapse schema status');
  });

  test('70, what to do and that nothing was changed, where the archive has what this release cannot read', async () => {
    const id = '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a0aa';
    await shop.query(
      `INSERT INTO order_archive (order_id, activity_id, user_id, status, quantity, credit, debit, finished_at,
         archived_at, history) VALUES (UNHEX(?), 1, 'ann', 'CANCELLED', 1, 1, 0, NOW(3), NOW(3), 'damaged')`,
      [id.replaceAll('-', '')],
    );
    const { code, err } = await cli.run('order', 'show', id);
    expect(code).toBe(70);
    expect(err).toMatch(/^lapse: LAPSE_ARCHIVE_UNREADABLE: .* from a backup\. Nothing was changed\.\n$/);
  });

  test('2 for what is no command, and for settings that are missing', async () => {
    expect((await cli.run('sell')).code).toBe(2);
    expect((await cli.run('order', 'show')).code).toBe(2);
    expect((await cli.run('order', 'show', orderId, '--colour')).code).toBe(2);
    const unset = await openCli({}).run('order', 'show', orderId);
    expect([unset.code, unset.err]).toEqual([2, expect.stringContaining('LAPSE_MYSQL_URL is missing')]);
  });

  test('0 for --help of every command, each with an example', async () => {
    const { buildProgram } = await import('../src/program.ts');
    const io = {
      env: {},
      out: { write: () => 0 },
      err: { write: () => 0 },
      signal: new AbortController().signal,
    };
    const leaves: string[][] = [];
    const walk = (command: ReturnType<typeof buildProgram>, path: string[]): void => {
      if (command.commands.length === 0) leaves.push(path);
      for (const each of command.commands) walk(each as typeof command, [...path, each.name()]);
    };
    walk(
      buildProgram(io, async () => undefined),
      [],
    );
    expect(leaves.length).toBeGreaterThan(25);
    for (const leaf of leaves) {
      const { code, out } = await cli.run(...leaf, '--help');
      expect([code, out]).toEqual([0, expect.stringContaining(`$ lapse ${leaf.join(' ')}`)]);
    }
  });
});

test('as a process of its own: data on standard output alone, the exit code, and no store opened for --help', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const source = ['--conditions=@lapse/source', '--import', 'tsx/esm', 'src/main.ts'];
  const variables = { PATH: process.env.PATH, HOME: process.env.HOME, ...env };
  const options = { cwd: root, env: variables, encoding: 'utf8' } as const;
  const run = (...args: string[]) => spawnSync(process.execPath, [...source, ...args], options);
  const listed = run('activity', 'list', '--json');
  expect([listed.status, listed.stderr]).toEqual([0, '']);
  expect(JSON.parse(listed.stdout)).toHaveProperty('activities');
  const piped = spawnSync('sh', ['-c', '"$0" "$@" | true', process.execPath, ...source, '--help'], options);
  expect([piped.status, piped.stderr]).toEqual([0, '']);
  const help = run('--help');
  expect([help.status, help.stdout]).toEqual([0, expect.stringContaining('Exit codes:')]);
});

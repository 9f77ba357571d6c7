import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort, startMariadb, startRedis, startRocketmq } from '@lapse/local-services';
import { mintToken } from '@lapse/stack';
import {
  createTestAuthority,
  documentedLines,
  queryDatabase,
  redisAt,
  type SpawnedApp,
  spawnApp,
  waitUntil,
} from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const appsFolder = new URL('../../../apps/', import.meta.url);
const password = 'PASSWORD';
const admin = { accessKey: 'root', secretKey: 'root-of-this-test' };
const jwtSecret = 'a-secret-of-this-test-and-of-nothing-else';
const orders = 5;
/** What a store says to a user who lacks a right, in its own words; Redis has others for what a script lacks. */
const refusals =
  /NOPERM|executing the script can't|ACL failure in script|command denied|Access denied|response-code=(?:40100|40300)|LAPSE_\w+_DENIED/;

const dir = mkdtempSync(join(tmpdir(), 'lapse-guarded-'));
const running: SpawnedApp[] = [];
const services: { kill(signal: NodeJS.Signals): void; close(): Promise<void> }[] = [];
let env: Record<string, string>;
let mysqlRoot: string;
let redisRoot: string;
let apiUrl: string;

/** A value as a mounted secret. */
function file(name: string, content: string): string {
  const path = join(dir, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

/** The command line, as an operator runs it. */
async function lapse(more: Record<string, string>, ...args: string[]): Promise<string> {
  const cli = fileURLToPath(new URL('cli/dist/main.js', appsFolder));
  const { stdout } = await run(process.execPath, [cli, ...args], {
    env: { PATH: process.env.PATH, ...env, ...more },
  });
  return stdout;
}

beforeAll(async () => {
  const authority = createTestAuthority(dir);
  const shown = authority.issue('server', ['DNS:localhost', 'IP:127.0.0.1']);
  const own = authority.issue('client');
  const log = () => undefined;
  const tlsPort = await freePort();
  const [mysql, redis, rocketmq] = await Promise.all([
    startMariadb({
      ...{ dir: join(dir, 'mysql'), log },
      args: [`--ssl-ca=${authority.caPath}`, `--ssl-cert=${shown.certPath}`, `--ssl-key=${shown.keyPath}`],
    }),
    startRedis({
      ...{ dir: join(dir, 'redis'), log },
      args: [
        ...['--tls-port', `${tlsPort}`, '--tls-cert-file', shown.certPath, '--tls-key-file', shown.keyPath],
        ...['--tls-ca-cert-file', authority.caPath, '--maxmemory-policy', 'noeviction'],
      ],
    }),
    startRocketmq({ dir: join(dir, 'rocketmq'), guards: { admin, tls: shown }, log }),
  ]);
  services.push(mysql, redis, rocketmq);
  mysqlRoot = `${mysql.url}/lapse`;
  redisRoot = redis.url;
  for (const sql of documentedLines(/^(CREATE (DATABASE|USER)|GRANT) /)) await queryDatabase(mysql.url, sql);
  await queryDatabase(mysql.url, "ALTER USER 'lapse'@'%' REQUIRE X509");
  await queryDatabase(mysql.url, "ALTER USER 'lapse_schema'@'%' REQUIRE SSL");
  const [acl = ''] = documentedLines(/^ACL SETUSER lapse on /);
  const [command = '', ...rights] = acl.split(' ');
  await redisAt(redis.url).command(command, ...rights);
  for (const line of documentedLines(/^mqadmin create/)) {
    const [, ...args] = line
      .replace('NAMESRV', rocketmq.namesrv)
      .replace('CLUSTER', 'DefaultCluster')
      .split(' ');
    await rocketmq.mqadmin(...args);
  }
  const httpPort = await freePort();
  apiUrl = `http://127.0.0.1:${httpPort}`;
  env = {
    LAPSE_MYSQL_URL_FILE: file('mysql-url', `mysql://lapse:${password}@localhost:${mysql.ports.mysql}/lapse`),
    LAPSE_MYSQL_TLS: 'true',
    LAPSE_MYSQL_TLS_CA_FILE: authority.caPath,
    LAPSE_MYSQL_TLS_CERT_FILE: own.certPath,
    LAPSE_MYSQL_TLS_KEY_FILE: own.keyPath,
    LAPSE_REDIS_URL_FILE: file('redis-url', `rediss://lapse:${password}@localhost:${tlsPort}`),
    LAPSE_REDIS_TLS_CA_FILE: authority.caPath,
    LAPSE_REDIS_TLS_CERT_FILE: own.certPath,
    LAPSE_REDIS_TLS_KEY_FILE: own.keyPath,
    LAPSE_ROCKETMQ_ENDPOINTS: `localhost:${rocketmq.ports.grpc}`,
    LAPSE_ROCKETMQ_NAMESRV: rocketmq.namesrv,
    LAPSE_ROCKETMQ_ACCESS_KEY: 'lapse',
    LAPSE_ROCKETMQ_SECRET_KEY_FILE: file('rocketmq-secret-key', password),
    LAPSE_ROCKETMQ_TLS: 'true',
    LAPSE_ROCKETMQ_TLS_CA_FILE: authority.caPath,
    LAPSE_JWT_SECRET: jwtSecret,
    LAPSE_PAYMENT_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 9).toString('base64')}`,
    LAPSE_CONSOLE_COOKIE_SECRET: jwtSecret,
    LAPSE_CONSOLE_PORT: '0',
    LAPSE_HTTP_PORT: `${httpPort}`,
    LAPSE_LIMIT_BUYER_WRITES: '10',
    // So that each of the sweeper's tasks has its turn.
    ...{ LAPSE_AUDIT_EVERY: '1s', LAPSE_ORPHANS_EVERY: '1s', LAPSE_DEAD_LETTERS_EVERY: '1s' },
    ...{ LAPSE_RETAIN_ORDERS: '2d', LAPSE_RETAIN_SALES: '2d', LAPSE_RETAIN_ARCHIVE: '35d' },
    ...{ LAPSE_RETAIN_ACTIONS: '365d', LAPSE_RETAIN_EVERY: '1s' },
  };
}, 180_000);

afterAll(async () => {
  for (const app of running) app.kill('SIGTERM');
  await Promise.all(running.map((app) => app.exited));
  for (const service of services) service.kill('SIGKILL');
  await Promise.all(services.map((service) => service.close()));
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

/** What a store has refused to one of the processes, in their own lines. */
function refused(): string[] {
  const lines = running.flatMap((app) => app.output().split('\n'));
  return lines.filter((line) => refusals.test(line));
}

async function post<T>(path: string, token: string, body: object, key: string): Promise<T> {
  const response = await fetch(`${apiUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

test('every process sells and closes over TLS alone, as users with the rights of the page; none is refused anything', {
  timeout: 180_000,
}, async () => {
  const schemaUrl = `mysql://lapse_schema:${password}@localhost:${new URL(mysqlRoot).port}/lapse`;
  await lapse({ LAPSE_MYSQL_URL_FILE: file('schema-url', schemaUrl) }, 'schema', 'migrate');
  const asAdmin = { LAPSE_ROCKETMQ_ACCESS_KEY: admin.accessKey };
  const secret = { LAPSE_ROCKETMQ_SECRET_KEY_FILE: file('admin-secret', admin.secretKey) };
  await lapse({ ...asAdmin, ...secret }, 'topics', 'apply');
  expect(await lapse({}, 'doctor')).toContain('no check failed');

  for (const app of ['producer', 'reminder', 'closer', 'settler', 'sweeper', 'console']) {
    running.push(spawnApp(new URL(`${app}/`, appsFolder), env));
  }
  await Promise.all(running.map((app) => app.waitForOutput('"started"')));
  const operator = await mintToken(jwtSecret, { sub: 'boss', scope: 'operator' });
  const { id } = await post<{ id: number }>(
    '/v1/activities',
    operator,
    {
      ...{ name: 'Evening show', capacity: orders, priceMinor: 8_800, currency: 'CNY' },
      ...{ remindAfterMs: 3_000, payWithinMs: 8_000 },
    },
    'activity',
  );
  for (let buyer = 1; buyer <= orders; buyer += 1) {
    const token = await mintToken(jwtSecret, { sub: `buyer-${buyer}` });
    await post(`/v1/activities/${id}/orders`, token, { quantity: 1 }, `order-${buyer}`);
  }
  const count = async (sql: string) =>
    Number(Object.values((await queryDatabase(mysqlRoot, sql))[0] ?? {})[0]);
  await waitUntil(async () => (await count('SELECT COUNT(*) FROM orders WHERE closed_at IS NULL')) === 0, {
    what: 'every order to close',
    timeoutMs: 60_000,
  });
  await waitUntil(async () => (await count('SELECT COUNT(*) FROM effect')) === 0, {
    what: 'no effect to be left',
  });
  expect(await count(`SELECT available FROM activity WHERE id = ${id}`)).toBe(orders);
  expect(await count("SELECT COUNT(*) FROM order_transition WHERE cause = 'message' AND credit > 0")).toBe(
    orders,
  );
  expect(refused()).toEqual([]);
  // Control: with one right less there are such lines.
  await queryDatabase(mysqlRoot, "REVOKE DELETE ON lapse.* FROM 'lapse'@'%'");
  await queryDatabase(mysqlRoot, 'KILL USER lapse');
  await waitUntil(() => refused().some((line) => line.includes('DELETE command denied')), {
    what: 'what MySQL refuses to be told',
    timeoutMs: 20_000,
  });
  await redisAt(redisRoot).command('ACL', 'SETUSER', 'lapse', '-get');
  const late = await mintToken(jwtSecret, { sub: 'late' });
  const order = post(`/v1/activities/${id}/orders`, late, { quantity: 1 }, 'late');
  await expect(order).rejects.toThrow('503');
  await waitUntil(() => refused().some((line) => /NOPERM|script/.test(line)), {
    what: 'what Redis refuses to be told',
  });
});

test('a process whose CA is another one does not start, and says which and what mends it', async () => {
  const other = createTestAuthority(dir, 'other').caPath;
  const closer = spawnApp(new URL('closer/', appsFolder), { ...env, LAPSE_MYSQL_TLS_CA_FILE: other });
  expect(await closer.exited).toEqual({ code: 1, signal: null });
  expect(closer.output()).toContain('"code":"LAPSE_MYSQL_TLS"');
  expect(closer.output()).toContain('LAPSE_MYSQL_TLS_CA_FILE');
});

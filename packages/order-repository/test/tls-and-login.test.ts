import { copyFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MariadbService, startMariadb } from '@lapse/local-services';
import {
  createTestAuthority,
  documentedLines,
  queryDatabase,
  type TestAuthority,
  type TestCertificate,
} from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isUnavailable, migrate, openOrderRepository, type RepositoryConfig } from '../src/index.ts';
import { openCutProxy } from './cut-proxy.ts';
import { collectLog, createActivity, createDueOrders, idsOf, newOrder } from './fixture.ts';

const log = collectLog([]);
let folder: string;
let authority: TestAuthority;
let otherAuthority: TestAuthority;
let client: TestCertificate;
let server: MariadbService;

/** What the server shows; it reads the files anew when told. */
async function showCertificate({ certPath, keyPath }: TestCertificate): Promise<void> {
  copyFileSync(certPath, join(folder, 'shown.pem'));
  copyFileSync(keyPath, join(folder, 'shown.key'));
  await root('FLUSH SSL');
}
const root = (sql: string) => queryDatabase(server.url, sql);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lapse-tls-'));
  authority = createTestAuthority(folder);
  otherAuthority = createTestAuthority(folder, 'other');
  client = authority.issue('client');
  const { certPath, keyPath } = authority.issue('server', ['DNS:localhost']);
  copyFileSync(certPath, join(folder, 'shown.pem'));
  copyFileSync(keyPath, join(folder, 'shown.key'));
  server = await startMariadb({
    dir: join(folder, 'mariadb'),
    args: [
      ...[`--ssl-ca=${authority.caPath}`, `--ssl-cert=${join(folder, 'shown.pem')}`],
      `--ssl-key=${join(folder, 'shown.key')}`,
    ],
    log: () => undefined,
  });
  // The users of the page, with the password that it leaves open.
  for (const sql of documentedLines(/^(CREATE (DATABASE|USER)|GRANT) /)) {
    await root(sql.replaceAll('PASSWORD', 'secret'));
  }
  await root("ALTER USER 'lapse'@'%' REQUIRE SSL");
}, 120_000);

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

function configOf(change: Partial<RepositoryConfig> = {}, user = 'lapse'): RepositoryConfig {
  const url = new URL(server.url);
  url.hostname = 'localhost';
  url.pathname = '/lapse';
  url.username = user;
  url.password = 'secret';
  const base = { url: url.href, tls: true, tlsCa: authority.ca, poolMax: 4, queryTimeoutMs: 5_000 };
  return { ...base, ...change };
}

/** @returns the failure of an open that must fail. */
async function failureOf(config: RepositoryConfig): Promise<Error & { code?: string }> {
  try {
    await (await openOrderRepository(config, log)).close();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('it was let in');
}

test('with the rights of the page alone the schema is made by one user, and orders live by the other, over TLS', async () => {
  const { applied } = await migrate(configOf({}, 'lapse_schema'), log);
  expect(applied.length).toBeGreaterThan(10);
  // Control: the user of the processes may not change a table.
  const other = new URL(configOf().url);
  other.searchParams.set('ssl', JSON.stringify({ ca: authority.ca }));
  await expect(queryDatabase(other.href, 'ALTER TABLE lapse.orders ADD COLUMN x INT')).rejects.toMatchObject({
    errno: 1142,
  });
  const orders = await openOrderRepository(configOf(), log);
  try {
    const activity = await createActivity(orders, { capacity: 100 });
    const due = await createDueOrders(orders, activity, 10);
    await orders.createOrders([newOrder(activity)]);
    await orders.closeExpired(idsOf(due), { cause: 'message' });
    expect((await orders.readActivity(activity.id))?.available).toBe(99);
    const sessions = await root(
      "SELECT p.id, v.variable_value AS cipher FROM information_schema.processlist p, information_schema.session_status v WHERE p.user = 'lapse' AND v.variable_name = 'ssl_cipher'",
    );
    expect(sessions.length).toBeGreaterThan(0);
  } finally {
    await orders.close();
  }
});

test('a user that must come by TLS is refused without it, and the answer says so', async () => {
  const { tls: _tls, tlsCa: _ca, ...plain } = configOf();
  const failure = await failureOf(plain);
  expect(failure).toMatchObject({ code: 'LAPSE_MYSQL_DENIED' });
  expect(failure.message).toContain('LAPSE_MYSQL_TLS=true');
  const wrong = new URL(configOf().url);
  wrong.password = 'hunter2';
  const denied = await failureOf(configOf({ url: wrong.href }));
  expect(denied).toMatchObject({ code: 'LAPSE_MYSQL_DENIED' });
  expect(denied.message).not.toContain('hunter2');
});

test('a certificate of another CA, of nobody that is known, or of another host is not believed: LAPSE_MYSQL_TLS', async () => {
  for (const config of [configOf({ tlsCa: otherAuthority.ca }), withoutCa(configOf())]) {
    const failure = await failureOf(config);
    expect(failure).toMatchObject({ code: 'LAPSE_MYSQL_TLS' });
    expect(failure.message).toMatch(/certificate.*LAPSE_MYSQL_TLS_CA_FILE/);
    // To a worker that runs already it is MySQL that is away: nothing is given up.
    expect(isUnavailable(failure)).toBe(true);
  }
  await showCertificate(authority.issue('elsewhere', ['DNS:db.example.com']));
  const failure = await failureOf(configOf());
  expect(failure).toMatchObject({ code: 'LAPSE_MYSQL_TLS' });
  expect(failure.message).toContain('altnames');
  // Control: the same server, once it shows the certificate of its own name.
  await showCertificate(authority.issue('server', ['DNS:localhost']));
  await (await openOrderRepository(configOf(), log)).close();
});

test('a server without TLS is not spoken to when TLS is asked for', async () => {
  const plain = await startMariadb({ dir: join(folder, 'plain'), database: 'lapse', log: () => undefined });
  try {
    const url = plain.url.replace('127.0.0.1', 'localhost');
    expect(await failureOf(configOf({ url }))).toMatchObject({
      code: 'LAPSE_MYSQL_TLS',
      message: expect.stringContaining('does not support secure connection'),
    });
  } finally {
    await plain.close();
  }
});

test('a user that is known by its certificate comes in with it, and not without', async () => {
  await root("ALTER USER 'lapse'@'%' REQUIRE X509");
  expect(await failureOf(configOf())).toMatchObject({ code: 'LAPSE_MYSQL_DENIED' });
  const orders = await openOrderRepository(configOf({ tlsCert: client.cert, tlsKey: client.key }), log);
  await orders.close();
  await root("ALTER USER 'lapse'@'%' REQUIRE SSL");
});

test('TLS passes through a TCP proxy, as behind a load balancer', async () => {
  const proxy = await openCutProxy(server.url);
  const url = new URL(configOf().url);
  url.port = new URL(proxy.url).port;
  const orders = await openOrderRepository(configOf({ url: url.href }), log);
  try {
    await createActivity(orders);
  } finally {
    await orders.close();
    await proxy.close();
  }
});

function withoutCa({ tlsCa: _ca, ...rest }: RepositoryConfig): RepositoryConfig {
  return rest;
}

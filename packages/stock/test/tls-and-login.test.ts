import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type RedisService, startRedis, startRedisSentinel } from '@lapse/local-services';
import { createLogger } from '@lapse/runtime';
import { createTestAuthority, documentedLines, redisAt, type TestAuthority, waitUntil } from '@lapse/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { openStock } from '../src/index.ts';
import type { ConnectConfig } from '../src/redis-client.ts';
import { emptySnapshot, loadOver, snapshotOf, useStore } from './open-test-stock.ts';

const log = createLogger('test', 'silent');
const dir = await mkdtemp(join(tmpdir(), 'lapse-stock-tls-'));
const authority: TestAuthority = createTestAuthority(dir);
const other = createTestAuthority(dir, 'other');
const shown = authority.issue('server', ['DNS:localhost']);
const own = authority.issue('client');
const tlsPort = await freePort();
const server: RedisService = await startRedis({
  dir: join(dir, 'redis'),
  args: [
    ...['--tls-port', String(tlsPort), '--tls-cert-file', shown.certPath, '--tls-key-file', shown.keyPath],
    ...['--tls-ca-cert-file', authority.caPath, '--tls-auth-clients', 'yes'],
  ],
  log: () => undefined,
});
const admin = redisAt(server.url);
const [acl = ''] = documentedLines(/^ACL SETUSER lapse on /);
await runAcl(acl.replace('>PASSWORD', '>secret'));
afterAll(async () => {
  await server.close();
  await rm(dir, { recursive: true, force: true });
});

async function runAcl(line: string): Promise<void> {
  const [name = '', ...args] = line.trim().split(' ');
  await admin.command(name, ...args);
}

const config: ConnectConfig = {
  url: `rediss://lapse:secret@localhost:${tlsPort}`,
  commandTimeoutMs: 2_000,
  tlsCa: authority.ca,
  tlsCert: own.cert,
  tlsKey: own.key,
};

/** What the stock says when it cannot be asked. */
async function failureOf(change: Partial<ConnectConfig>): Promise<string> {
  const stock = await openStock({ ...config, commandTimeoutMs: 500, ...change }, log);
  try {
    await stock.ping();
    return 'it was let in';
  } catch (error) {
    expect(error).toMatchObject({ code: 'LAPSE_STOCK_UNAVAILABLE' });
    return (error as Error).message;
  } finally {
    await stock.close();
  }
}

describe('over TLS, as the user of the page', () => {
  it('orders are held, sold, given back and loaded anew', async () => {
    const stock = await openStock(config, log);
    const runId = await loadOver(stock, emptySnapshot(1, 2));
    const reserve = (orderId: string) =>
      stock.reserve({
        ...{ activityId: 1, generation: 1, stockRunId: runId, orderId, userId: orderId, quantity: 1 },
      });
    expect([await reserve('o1'), await reserve('o2')]).toEqual([{ kind: 'reserved' }, { kind: 'reserved' }]);
    expect(await reserve('o3')).toEqual({ kind: 'sold_out_newcomer' });
    await stock.release(1, ['o1']);
    await stock.confirm(1, ['o2']);
    const hold = { orderId: 'o2', userId: 'o2', quantity: 1, state: 'sold' } as const;
    await loadOver(stock, snapshotOf(1, 2, 1, [hold]));
    expect(await stock.readCounts(1)).toMatchObject({ stock: 1, sold: 1, generation: 2 });
    expect((await stock.describeServers())[0]).toMatchObject({ role: 'master', runId });
    await stock.close();
  });

  it('a server of another CA, one without the name, and none of ours is not believed; nor are we without ours', async () => {
    expect(await failureOf({ tlsCa: other.ca })).toContain('certificate');
    expect(await failureOf({ url: config.url.replace('localhost', '127.0.0.1') })).toContain('altnames');
    const { tlsCert: _cert, tlsKey: _key, ...withoutOurs } = config;
    const stock = await openStock({ ...withoutOurs, commandTimeoutMs: 500 }, log);
    await expect(stock.ping()).rejects.toMatchObject({ code: 'LAPSE_STOCK_UNAVAILABLE' });
    await stock.close();
    // Control.
    expect(await failureOf({})).toBe('it was let in');
  });

  it('a wrong password is said to be one, and is not in what is said', async () => {
    const failure = await failureOf({ url: config.url.replace('secret', 'hunter2') });
    expect(failure).toContain('WRONGPASS');
    expect(failure).not.toContain('hunter2');
  });

  it('negative control: without one of the rights the operation that needs it says which', async () => {
    const stock = await openStock(config, log);
    await runAcl('ACL SETUSER lapse -hset');
    const failure = await loadOver(
      stock,
      snapshotOf(9, 1, 0, [{ orderId: 'o1', userId: 'u1', quantity: 1, state: 'held' }]),
    ).catch((error: Error) => error.message);
    await runAcl('ACL SETUSER lapse +hset');
    await stock.close();
    expect(failure).toMatch(/NOPERM.*hset/i);
  });

  it('a right that only a script lacks makes Redis count as away, with its reason, as one that a command lacks', async () => {
    const stock = await openStock(config, log);
    await loadOver(stock, snapshotOf(9, 1, 1, []));
    await runAcl('ACL SETUSER lapse -get');
    const failure: unknown = await stock.release(9, ['o1']).catch((error: unknown) => error);
    await runAcl('ACL SETUSER lapse +get');
    expect(failure).toMatchObject({
      code: 'LAPSE_STOCK_UNAVAILABLE',
      message: expect.stringMatching(/The user executing the script can't|ACL failure in script/),
    });
    expect(await stock.release(9, ['o1'])).toEqual({ kind: 'done', units: [0] });
    await stock.close();
  });
});

it('behind sentinels that speak TLS, as does all between them: the master is found, and the next one once it is gone', async () => {
  const certificate = authority.issue('sentinel', ['IP:127.0.0.1']);
  const service = await startRedisSentinel({
    ...{ dir: join(dir, 'sentinel'), tls: { ...certificate, caPath: authority.caPath } },
    log: () => undefined,
  });
  const stock = await openStock({ url: service.url, commandTimeoutMs: 1_000, tlsCa: authority.ca }, log);
  try {
    const [first] = await stock.describeServers();
    expect(first).toMatchObject({ role: 'master' });
    service.kill('SIGKILL', 'redis-1');
    const next = async () => (await stock.describeServers())[0];
    await waitUntil(async () => (await next())?.runId !== first?.runId, {
      what: 'the next master',
      timeoutMs: 30_000,
    });
    expect(await next()).toMatchObject({ role: 'master' });
    // Control: whoever does not believe the CA finds nobody.
    const { tlsCa: _ca, ...publicCas } = { ...config, url: service.url };
    const nobody = await openStock({ ...publicCas, commandTimeoutMs: 500 }, log);
    await expect(nobody.ping()).rejects.toMatchObject({ code: 'LAPSE_STOCK_UNAVAILABLE' });
    await nobody.close();
  } finally {
    await stock.close();
    service.kill('SIGKILL');
    await service.close();
  }
}, 60_000);

// The same tests, unchanged, with no other rights than those of the page.
useStore(server.url.replace('redis://', 'redis://lapse:secret@'), server.url);
const sameTests = ['stock', 'load-stock', 'reacquire', 'set-capacity', 'inspect-stock', 'seen-buyers'];
describe.each(sameTests)('as the user of the page: %s', async (name) => {
  await import(`./${name}.test.ts`);
});

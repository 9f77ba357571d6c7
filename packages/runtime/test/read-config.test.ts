import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigError, type GroupName, readConfig } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'lapse-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const mysqlUrl = 'mysql://lapse:hunter2@127.0.0.1:3306/lapse';
const whsec = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const jwtSecret = 'x'.repeat(32);
const [certificate = ''] = rootCertificates;

function faultsOf(env: NodeJS.ProcessEnv, ...groups: GroupName[]): Record<string, string> {
  try {
    readConfig(env, groups);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return Object.fromEntries(error.faults.map(({ name, fault }) => [name, fault]));
  }
  return {};
}

describe('values', () => {
  test('a process with nothing set gets the defaults, as numbers in the unit of the field name', () => {
    expect(readConfig({}, ['process', 'ops', 'sweeper', 'relay'])).toEqual({
      process: { logLevel: 'info', shutdownTimeoutMs: 15_000, closeTimeoutMs: 10_000 },
      ops: { host: '127.0.0.1', port: 0 },
      sweeper: {
        everyMs: 10_000,
        graceMs: 15_000,
        batchMax: 500,
        budgetMs: 8_000,
        repairEveryMs: 1_000,
        reportEveryMs: 10_000,
        orphansEveryMs: 30_000,
        orphansAfterMs: 60_000,
        outboxAfterMs: 2_000,
        effectsAfterMs: 2_000,
        remindGraceMs: 30_000,
        deadLettersEveryMs: 30_000,
        auditEveryMs: 30_000,
        retainOrdersMs: null,
        retainArchiveMs: null,
        retainSalesMs: null,
        retainActionsMs: null,
        retainEveryMs: 60_000,
      },
      relay: { gatherMs: 250, dueWindowMs: 1_000, closeLeadMs: 1_500 },
    });
  });

  test.each([
    ['2500', 2_500],
    ['2500ms', 2_500],
    ['90s', 90_000],
    ['1m', 60_000],
    ['level:5', 60_000],
    [' 30s ', 30_000],
  ])('a duration may be written as %j', (text, ms) => {
    expect(readConfig({ LAPSE_SWEEP_GRACE: text }, ['sweeper']).sweeper.graceMs).toBe(ms);
  });

  test.each([
    ['90d', 90 * 86_400_000],
    ['48h', 2 * 86_400_000],
    ['forever', null],
  ])('retention may be written as %j', (text, ms) => {
    expect(readConfig({ LAPSE_RETAIN_ORDERS: text }, ['sweeper']).sweeper.retainOrdersMs).toBe(ms);
  });

  test.each(['47h', '1d', '0', 'never', '36501d'])(
    'retention of %j is refused, and says what would do',
    (text) => {
      const { LAPSE_RETAIN_ORDERS: fault } = faultsOf({ LAPSE_RETAIN_ORDERS: text }, 'sweeper');
      expect(fault).toContain('must be "forever", or a duration from 2d to 36500d, such as 90d');
    },
  );

  test('an end of the archive without a policy that fills it is refused: messages would name what is nowhere', () => {
    const only = { LAPSE_RETAIN_ARCHIVE: '90d' };
    expect(faultsOf(only, 'sweeper').LAPSE_RETAIN_ARCHIVE).toContain(
      'LAPSE_RETAIN_ORDERS or LAPSE_RETAIN_SALES',
    );
    for (const other of ['LAPSE_RETAIN_ORDERS', 'LAPSE_RETAIN_SALES']) {
      expect(faultsOf({ ...only, [other]: '90d' }, 'sweeper')).toEqual({});
    }
  });

  test('an optional setting that is not set leaves no key behind', () => {
    const { rocketmq } = readConfig({ LAPSE_ROCKETMQ_ENDPOINTS: '127.0.0.1:8081' }, ['rocketmq']);
    expect(Object.keys(rocketmq)).toEqual(['endpoints', 'topicPrefix', 'tls', 'requestTimeoutMs']);
    expect(rocketmq.tls).toBe(false);
  });

  test('an empty value counts as missing', () => {
    expect(readConfig({ LAPSE_LOG_LEVEL: '' }, ['process']).process.logLevel).toBe('info');
    expect(faultsOf({ LAPSE_MYSQL_URL: '' }, 'mysql')).toEqual({ LAPSE_MYSQL_URL: 'is missing' });
  });

  test('only the groups of a process are judged, so one environment file serves all', () => {
    expect(faultsOf({ LAPSE_SWEEP_EVERY: 'soon', LAPSE_HTTP_PORT: 'x' }, 'process')).toEqual({});
  });
});

test.each([
  'redis://127.0.0.1:6379/3',
  'rediss://user:secret@redis.example.com',
  'redis-cluster://10.0.0.1:6379,10.0.0.2:6379',
  'rediss-cluster://user:secret@one.example.com:6379',
  'redis-sentinel://10.0.0.1:26379,10.0.0.2:26379/lapse',
  'rediss-sentinel://user:p%40ss@one.example.com:26379,[fe80::1]:26379/my-master/3',
])('a Redis server, some nodes of a cluster, or sentinels: %s', (url) => {
  expect(readConfig({ LAPSE_REDIS_URL: url }, ['redis']).redis.url).toBe(url);
});

describe('faults', () => {
  test('every bad variable is reported at once, with its fault and an example', () => {
    const env = { LAPSE_MYSQL_POOL_MAX: '0', LAPSE_LOG_LEVEL: 'loud', LAPSE_SWEEP_EVERY: '10' };
    const faults = faultsOf(env, 'process', 'mysql', 'redis', 'sweeper');
    expect(faults).toEqual({
      LAPSE_LOG_LEVEL: 'must be one of: fatal, error, warn, info, debug, trace, silent; it is "loud"',
      LAPSE_MYSQL_URL: 'is missing',
      LAPSE_MYSQL_POOL_MAX: 'must be a whole number from 1 to 200; it is "0"',
      LAPSE_REDIS_URL: 'is missing',
      LAPSE_SWEEP_EVERY:
        'must be a duration from 100ms to 1h, such as 1500ms, 90s, 10m or level:14; it is "10"',
    });
    expect(() => readConfig(env, ['mysql'])).toThrow(
      'LAPSE_MYSQL_URL is missing. Example: mysql://lapse:password@127.0.0.1:3306/lapse',
    );
  });

  test.each([
    ['LAPSE_MYSQL_URL', 'postgres://lapse:hunter2@127.0.0.1/lapse', 'mysql'],
    ['LAPSE_MYSQL_URL', 'mysql://lapse:hunter2@127.0.0.1', 'mysql'],
    ['LAPSE_MYSQL_URL', 'hunter2', 'mysql'],
    ['LAPSE_REDIS_URL', 'http://:hunter2@127.0.0.1', 'redis'],
    ['LAPSE_REDIS_URL', 'redis-cluster://lapse:hunter2@127.0.0.1', 'redis'],
    ['LAPSE_REDIS_URL', 'redis-cluster://lapse:hunter2@127.0.0.1:6379/lapse', 'redis'],
    ['LAPSE_REDIS_URL', 'redis-sentinel://lapse:hunter2@127.0.0.1:26379', 'redis'],
    ['LAPSE_REDIS_URL', 'redis-sentinel://lapse:hunter2@127.0.0.1/lapse', 'redis'],
    ['LAPSE_REDIS_URL', 'redis-sentinel://lapse:hunter2@127.0.0.1:99999/lapse', 'redis'],
    ['LAPSE_REDIS_URL', 'redis-cluster://lapse:hunter2@127.0.0.1:6379,127.0.0.1:0', 'redis'],
    ['LAPSE_JWT_SECRET', 'hunter2', 'auth'],
    ['LAPSE_PAYMENT_WEBHOOK_SECRET', 'whsec_hunter2', 'payment'],
    ['LAPSE_STRIPE_SECRET_KEY', 'hunter2', 'payment'],
    ['LAPSE_STRIPE_WEBHOOK_SECRET', 'hunter2', 'payment'],
    ['LAPSE_PAYMENT_API_KEY', 'hunter2', 'payment'],
    ['LAPSE_SIM_API_KEY', 'hunter2', 'simulator'],
    ['LAPSE_NOTIFY_WEBHOOK_URL', 'ftp://hunter2', 'notify'],
  ] as const)('a bad value of the secret %s is never printed', (name, value, group) => {
    const faults = faultsOf({ [name]: value }, group);
    expect(faults[name]).toMatch(/^must be /);
    expect(JSON.stringify(faults)).not.toContain('hunter2');
  });

  test('a long bad value is quoted in part only', () => {
    expect(faultsOf({ LAPSE_HTTP_PORT: '9'.repeat(5_000) }, 'http').LAPSE_HTTP_PORT?.length).toBeLessThan(
      150,
    );
  });

  test.each([
    ['LAPSE_MYSQL_ULR', 'LAPSE_MYSQL_URL'],
    ['LAPSE_SWEEP_EVRY', 'LAPSE_SWEEP_EVERY'],
    ['LAPSE_JWTSECRET_FILE', 'LAPSE_JWT_SECRET_FILE'],
  ])('the misspelt %s is a fault that names %s, whatever groups are read', (misspelt, meant) => {
    expect(faultsOf({ [misspelt]: 'x' }, 'process')).toEqual({
      [misspelt]: `is not a setting; did you mean ${meant}?`,
    });
  });

  test('an unknown variable like no other is a fault without a guess', () => {
    const faults = faultsOf({ LAPSE_FAVOURITE_COLOUR_OF_THE_OPERATOR: 'x' }, 'process');
    expect(Object.values(faults)[0]).toContain('is not a setting; remove it');
  });

  test('variables of the tests and the local stack are nobody’s fault', () => {
    expect(
      faultsOf({ LAPSE_TEST_MYSQL_URL: 'x', LAPSE_INSTALL: '1', LAPSE_SERVICES: 'x' }, 'process'),
    ).toEqual({});
  });
});

describe('NAME_FILE', () => {
  const file = (name: string, content: string) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };

  test('reads the value from a file, without its last line break', () => {
    const env = { LAPSE_MYSQL_URL_FILE: file('url', `${mysqlUrl}\n`) };
    expect(readConfig(env, ['mysql']).mysql.url).toBe(mysqlUrl);
  });

  test('a fault of its content does not show a secret', () => {
    const faults = faultsOf({ LAPSE_MYSQL_URL_FILE: file('bad', 'hunter2') }, 'mysql');
    expect(faults.LAPSE_MYSQL_URL).toBe('must be mysql://user:password@host:port/database');
  });

  test('a missing file, an empty one and one without end are faults of that variable', () => {
    expect(faultsOf({ LAPSE_MYSQL_URL_FILE: '/no/such/file' }, 'mysql').LAPSE_MYSQL_URL).toContain('ENOENT');
    expect(faultsOf({ LAPSE_MYSQL_URL_FILE: file('empty', '\n') }, 'mysql').LAPSE_MYSQL_URL).toContain(
      'empty',
    );
    expect(faultsOf({ LAPSE_MYSQL_URL_FILE: '/dev/zero' }, 'mysql').LAPSE_MYSQL_URL).toContain('longer than');
  });

  test('both NAME and NAME_FILE set is a fault: nobody could tell which one counts', () => {
    const env = { LAPSE_MYSQL_URL: mysqlUrl, LAPSE_MYSQL_URL_FILE: file('both', mysqlUrl) };
    expect(faultsOf(env, 'mysql').LAPSE_MYSQL_URL).toContain('keep one of them');
  });
});

describe('rules between settings', () => {
  test('exactly one of JWT secret and JWKS address is required', () => {
    const base = {};
    const jwksUrl = 'https://login.example.com/jwks.json';
    expect(faultsOf(base, 'auth').LAPSE_JWT_SECRET).toContain('set exactly one');
    const both = { ...base, LAPSE_JWT_SECRET: jwtSecret, LAPSE_JWKS_URL: jwksUrl };
    expect(faultsOf(both, 'auth').LAPSE_JWKS_URL).toContain('keep exactly one');
    expect(faultsOf({ ...base, LAPSE_JWT_SECRET: jwtSecret }, 'auth')).toEqual({});
    expect(faultsOf({ ...base, LAPSE_JWKS_URL: jwksUrl }, 'auth')).toEqual({});
  });

  test.each([
    ['none', ['LAPSE_PAYMENT_WEBHOOK_SECRET']],
    ['simulator', ['LAPSE_PAYMENT_URL', 'LAPSE_PAYMENT_API_KEY', 'LAPSE_PAYMENT_WEBHOOK_SECRET']],
    ['stripe', ['LAPSE_STRIPE_SECRET_KEY', 'LAPSE_STRIPE_WEBHOOK_SECRET']],
  ])('the payment provider %s needs %j', (provider, needed) => {
    const env = { LAPSE_PAYMENT_PROVIDER: provider };
    expect(Object.keys(faultsOf(env, 'payment'))).toEqual(needed);
    const values = {
      LAPSE_PAYMENT_URL: 'http://127.0.0.1:8090',
      LAPSE_PAYMENT_API_KEY: 'x'.repeat(16),
      LAPSE_PAYMENT_WEBHOOK_SECRET: whsec,
      LAPSE_STRIPE_SECRET_KEY: `sk_test_${'x'.repeat(16)}`,
      LAPSE_STRIPE_WEBHOOK_SECRET: `whsec_${'x'.repeat(32)}`,
    };
    expect(faultsOf({ ...env, ...values }, 'payment')).toEqual({});
  });

  test('Stripe’s key goes over plain http to this machine alone', () => {
    const urlFault = (url: string) => faultsOf({ LAPSE_STRIPE_API_URL: url }, 'payment').LAPSE_STRIPE_API_URL;
    expect(urlFault('http://api.stripe.com')).toContain('must be an https URL');
    expect(urlFault('http://127.0.0.1.evil.example')).toContain('must be an https URL');
    expect(urlFault('https://user@api.example.com')).toContain('must be an https URL');
    expect(urlFault('http://127.0.0.1:12111')).toBeUndefined();
    expect(urlFault('https://api.example.com')).toBeUndefined();
  });

  test('the simulator that sends events needs a secret to sign them, and its faults are checked', () => {
    const base = { LAPSE_SIM_DIR: '/tmp/sim', LAPSE_SIM_API_KEY: 'x'.repeat(16) };
    expect(faultsOf(base, 'simulator')).toEqual({});
    const sending = { ...base, LAPSE_SIM_WEBHOOK_URL: 'http://127.0.0.1:8080/hook' };
    expect(Object.keys(faultsOf(sending, 'simulator'))).toEqual(['LAPSE_SIM_WEBHOOK_SECRET']);
    for (const faults of ['{"duplicate":2}', '{"duplicat":0.5}', 'duplicate', '[]', 'null']) {
      expect(Object.keys(faultsOf({ ...base, LAPSE_SIM_FAULTS: faults }, 'simulator'))).toEqual([
        'LAPSE_SIM_FAULTS',
      ]);
    }
    const config = readConfig({ ...base, LAPSE_SIM_FAULTS: '{"duplicate":0.5}' }, ['simulator']);
    expect(config.simulator.faults).toMatchObject({ duplicate: 0.5, twin: 0, seed: 1 });
  });

  test('the webhook channel needs its address and secret; the log channel does not', () => {
    const faults = faultsOf({ LAPSE_NOTIFY_CHANNEL: 'webhook' }, 'notify');
    expect(Object.keys(faults)).toEqual(['LAPSE_NOTIFY_WEBHOOK_URL', 'LAPSE_NOTIFY_WEBHOOK_SECRET']);
    expect(faultsOf({}, 'notify')).toEqual({});
  });

  test('a broker user without a password, and the other way round, is a fault', () => {
    const base = { LAPSE_ROCKETMQ_ENDPOINTS: '127.0.0.1:8081' };
    const user = { ...base, LAPSE_ROCKETMQ_ACCESS_KEY: 'lapse' };
    expect(Object.keys(faultsOf(user, 'rocketmq'))).toEqual(['LAPSE_ROCKETMQ_SECRET_KEY']);
    const password = { ...base, LAPSE_ROCKETMQ_SECRET_KEY: 'hunter2' };
    expect(Object.keys(faultsOf(password, 'rocketmq'))).toEqual(['LAPSE_ROCKETMQ_ACCESS_KEY']);
  });

  test('MySQL by TLS: the host is a name, and a certificate that would do nothing is a fault', () => {
    const url = (host: string) => ({ LAPSE_MYSQL_URL: `mysql://lapse:hunter2@${host}/lapse` });
    const tls = { LAPSE_MYSQL_TLS: 'true', LAPSE_MYSQL_TLS_CA: certificate };
    expect(faultsOf({ ...url('db.example.com'), ...tls }, 'mysql')).toEqual({});
    for (const host of ['10.0.0.1', '[::1]:3306']) {
      expect(faultsOf({ ...url(host), ...tls }, 'mysql').LAPSE_MYSQL_URL).toContain('names an address');
      expect(faultsOf(url(host), 'mysql')).toEqual({});
    }
    const off = faultsOf({ ...url('db.example.com'), LAPSE_MYSQL_TLS_CA: certificate }, 'mysql');
    expect(off.LAPSE_MYSQL_TLS_CA).toContain('LAPSE_MYSQL_TLS=true');
    // What asked for TLS in an earlier commit must not be silently without it now.
    const asked = { LAPSE_MYSQL_URL: 'mysql://lapse:hunter2@db.example.com/lapse?tls=true' };
    expect(faultsOf(asked, 'mysql').LAPSE_MYSQL_URL).toContain('LAPSE_MYSQL_TLS');
  });

  test('a CA that cannot be read, and a certificate without its key, are faults before anything is opened', () => {
    const redis = { LAPSE_REDIS_URL: 'rediss://redis.example.com' };
    const damaged = certificate.replace('MI', 'AA');
    const fault = (env: NodeJS.ProcessEnv) => faultsOf({ ...redis, ...env }, 'redis');
    expect(fault({ LAPSE_REDIS_TLS_CA: certificate })).toEqual({});
    expect(fault({ LAPSE_REDIS_TLS_CA: `${certificate}\n${damaged}` }).LAPSE_REDIS_TLS_CA).toContain(
      '2 of 2',
    );
    expect(Object.keys(fault({ LAPSE_REDIS_TLS_CERT: certificate }))).toEqual(['LAPSE_REDIS_TLS_KEY']);
    const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
    const pair = { LAPSE_REDIS_TLS_CERT: certificate, LAPSE_REDIS_TLS_KEY: String(key) };
    expect(fault(pair).LAPSE_REDIS_TLS_CERT).toContain('not the certificate of its key');
    expect(Object.keys(faultsOf({ ...pair, LAPSE_REDIS_URL: 'redis://127.0.0.1' }, 'redis'))).toEqual(
      Object.keys(pair),
    );
    const user = { LAPSE_REDIS_SENTINEL_USERNAME: 'lapse' };
    expect(Object.keys(fault(user))).toEqual(['LAPSE_REDIS_SENTINEL_PASSWORD']);
  });

  test('only shortening the whole shutdown needs no second setting', () => {
    expect(faultsOf({ LAPSE_SHUTDOWN_TIMEOUT: '5s' }, 'process')).toEqual({});
  });
});

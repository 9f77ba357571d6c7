import { isIP } from 'node:net';
import { isRedisTls } from '../redis-address.ts';
import { defineGroup } from './setting.ts';
import { caSetting, clientCertificateSettings, tlsFaults } from './tls.ts';
import { duration, matching, redisUrl, trueOrFalse, url, wholeNumber } from './values.ts';

export const mysqlGroup = defineGroup(
  {
    url: {
      env: 'LAPSE_MYSQL_URL',
      schema: url(
        ['mysql:'],
        'must be mysql://user:password@host:port/database',
        ({ pathname }) => pathname.length > 1,
      ),
      example: 'mysql://lapse:password@127.0.0.1:3306/lapse',
      help: 'The database that decides every order: MySQL 8.0 or newer, or MariaDB 10.6 or newer.',
      secret: true,
    },
    poolMax: {
      env: 'LAPSE_MYSQL_POOL_MAX',
      schema: wholeNumber(1, 200),
      default: '8',
      example: '16',
      help: 'Most connections of one process to MySQL.',
    },
    queryTimeoutMs: {
      env: 'LAPSE_MYSQL_QUERY_TIMEOUT',
      schema: duration(100, 600_000),
      default: '10s',
      example: '5s',
      help: 'Longest time of one query. The wait for a free connection is 3 s at most.',
    },
    tls: {
      env: 'LAPSE_MYSQL_TLS',
      schema: trueOrFalse(),
      default: 'false',
      example: 'true',
      help: 'Speak TLS with MySQL, or not at all: its certificate must be valid, and for the host that LAPSE_MYSQL_URL names.',
    },
    tlsCa: caSetting('LAPSE_MYSQL', 'MySQL'),
    ...clientCertificateSettings('LAPSE_MYSQL', 'MySQL'),
  },
  ({ url, tls, ...files }) => {
    const { hostname, search } = new URL(url);
    const faults = tlsFaults('LAPSE_MYSQL', files, { on: tls, toTurnOn: 'set LAPSE_MYSQL_TLS=true' });
    // It would be connected to as if it said nothing.
    if (search !== '') {
      faults.push({
        env: 'LAPSE_MYSQL_URL',
        fault: 'has parameters behind the database: TLS is LAPSE_MYSQL_TLS',
      });
    }
    // The driver checks names alone: an address would be taken for "localhost".
    if (tls && isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
      const fault =
        'names an address: with LAPSE_MYSQL_TLS it must name the host that the certificate is for';
      faults.push({ env: 'LAPSE_MYSQL_URL', fault });
    }
    return faults;
  },
);

export const redisGroup = defineGroup(
  {
    url: {
      env: 'LAPSE_REDIS_URL',
      schema: redisUrl(),
      example: 'redis://127.0.0.1:6379',
      help: 'The Redis that holds the stock counters. A cluster is redis-cluster://host:port,host:port, a master behind sentinels redis-sentinel://host:port,host:port/name; rediss for TLS.',
      secret: true,
    },
    commandTimeoutMs: {
      env: 'LAPSE_REDIS_COMMAND_TIMEOUT',
      schema: duration(50, 60_000),
      default: '2s',
      example: '500ms',
      help: 'Longest time of one Redis command.',
    },
    tlsCa: caSetting('LAPSE_REDIS', 'Redis'),
    ...clientCertificateSettings('LAPSE_REDIS', 'Redis'),
    sentinelUsername: {
      env: 'LAPSE_REDIS_SENTINEL_USERNAME',
      schema: matching(/^\S{1,128}$/, 'must be 1 to 128 characters without spaces'),
      optional: true,
      example: 'lapse',
      help: 'User of the sentinels, where they have users of their own.',
    },
    sentinelPassword: {
      env: 'LAPSE_REDIS_SENTINEL_PASSWORD',
      schema: matching(/^\S{1,256}$/, 'must be 1 to 256 characters without spaces'),
      optional: true,
      example: 'the password of the sentinels',
      help: 'Password of the sentinels, where they ask for one; that of Redis itself is in LAPSE_REDIS_URL.',
      secret: true,
    },
  },
  ({ url, sentinelUsername, sentinelPassword, ...files }) => {
    const toTurnOn = 'begin LAPSE_REDIS_URL with rediss';
    const faults = tlsFaults('LAPSE_REDIS', files, { on: isRedisTls(url), toTurnOn });
    if (sentinelUsername !== undefined && sentinelPassword === undefined) {
      const fault = 'is missing: LAPSE_REDIS_SENTINEL_USERNAME is set, and a login needs both';
      faults.push({ env: 'LAPSE_REDIS_SENTINEL_PASSWORD', fault });
    }
    return faults;
  },
);

const endpoints = /^[A-Za-z0-9._-]+:\d{1,5}(?:;[A-Za-z0-9._-]+:\d{1,5})*$/;

export const rocketmqGroup = defineGroup(
  {
    endpoints: {
      env: 'LAPSE_ROCKETMQ_ENDPOINTS',
      schema: matching(endpoints, 'must be host:port of the RocketMQ 5 proxy (several with ; between)'),
      example: '127.0.0.1:8081',
      help: 'gRPC address of the RocketMQ 5 proxy.',
    },
    namesrv: {
      env: 'LAPSE_ROCKETMQ_NAMESRV',
      schema: matching(endpoints, 'must be host:port of the name server (several with ; between)'),
      optional: true,
      example: '127.0.0.1:9876',
      help: 'Address of the name server; needed only to create topics and consumer groups.',
    },
    topicPrefix: {
      env: 'LAPSE_ROCKETMQ_TOPIC_PREFIX',
      schema: matching(/^[A-Za-z0-9_-]{0,64}$/, 'must be up to 64 of: letters, digits, "-", "_"'),
      default: '',
      example: 'staging-',
      help: 'Put before topic and group names, so that several installations can share one broker.',
    },
    accessKey: {
      env: 'LAPSE_ROCKETMQ_ACCESS_KEY',
      schema: matching(/^\S{1,128}$/, 'must be 1 to 128 characters without spaces'),
      optional: true,
      example: 'lapse',
      help: 'User of a broker with ACL 2.0.',
    },
    secretKey: {
      env: 'LAPSE_ROCKETMQ_SECRET_KEY',
      schema: matching(/^\S{1,256}$/, 'must be 1 to 256 characters without spaces'),
      optional: true,
      example: 'the password of that user',
      help: 'Password of that user.',
      secret: true,
    },
    tls: {
      env: 'LAPSE_ROCKETMQ_TLS',
      schema: trueOrFalse(),
      default: 'false',
      example: 'true',
      help: 'Speak TLS with the proxy, whose certificate must be valid for the host in LAPSE_ROCKETMQ_ENDPOINTS.',
    },
    tlsCa: caSetting('LAPSE_ROCKETMQ', 'the proxy'),
    requestTimeoutMs: {
      env: 'LAPSE_ROCKETMQ_REQUEST_TIMEOUT',
      schema: duration(500, 60_000),
      default: '3s',
      example: '5s',
      help: 'Longest time of one request to the proxy.',
    },
  },
  ({ accessKey, secretKey, tls, ...files }) => {
    const faults = tlsFaults('LAPSE_ROCKETMQ', files, { on: tls, toTurnOn: 'set LAPSE_ROCKETMQ_TLS=true' });
    if ((accessKey === undefined) === (secretKey === undefined)) return faults;
    const names = ['LAPSE_ROCKETMQ_ACCESS_KEY', 'LAPSE_ROCKETMQ_SECRET_KEY'] as const;
    const [missing, there] = accessKey === undefined ? names : names.toReversed();
    return [...faults, { env: `${missing}`, fault: `is missing: ${there} is set, and a login needs both` }];
  },
);

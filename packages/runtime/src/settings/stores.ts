import { defineGroup } from './setting.ts';
import { duration, matching, redisUrl, trueOrFalse, url, wholeNumber } from './values.ts';

export const mysqlGroup = defineGroup({
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
});

export const redisGroup = defineGroup({
  url: {
    env: 'LAPSE_REDIS_URL',
    schema: redisUrl(),
    example: 'redis://127.0.0.1:6379',
    help: 'The Redis that holds the stock counters; a cluster is redis-cluster://host:port,host:port.',
    secret: true,
  },
  commandTimeoutMs: {
    env: 'LAPSE_REDIS_COMMAND_TIMEOUT',
    schema: duration(50, 60_000),
    default: '2s',
    example: '500ms',
    help: 'Longest time of one Redis command.',
  },
});

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
      help: 'Speak TLS with the proxy. A private CA goes into GRPC_DEFAULT_SSL_ROOTS_FILE_PATH.',
    },
    requestTimeoutMs: {
      env: 'LAPSE_ROCKETMQ_REQUEST_TIMEOUT',
      schema: duration(500, 60_000),
      default: '3s',
      example: '5s',
      help: 'Longest time of one request to the proxy.',
    },
  },
  ({ accessKey, secretKey }) =>
    (accessKey === undefined) === (secretKey === undefined)
      ? []
      : [
          {
            env: accessKey === undefined ? 'LAPSE_ROCKETMQ_ACCESS_KEY' : 'LAPSE_ROCKETMQ_SECRET_KEY',
            fault: `is missing: ${accessKey === undefined ? 'LAPSE_ROCKETMQ_SECRET_KEY' : 'LAPSE_ROCKETMQ_ACCESS_KEY'} is set, and a login needs both`,
          },
        ],
);

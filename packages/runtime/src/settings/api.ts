import { defineGroup } from './setting.ts';
import { duration, host, matching, port, proxies, url, wholeNumber } from './values.ts';

export const httpGroup = defineGroup({
  host: {
    env: 'LAPSE_HTTP_HOST',
    schema: host(),
    default: '127.0.0.1',
    example: '0.0.0.0',
    help: 'Address that the API listens on.',
  },
  port: {
    env: 'LAPSE_HTTP_PORT',
    schema: port(),
    default: '8080',
    example: '3000',
    help: 'Port of the API; 0 takes any free one and logs it.',
  },
  requestTimeoutMs: {
    env: 'LAPSE_HTTP_REQUEST_TIMEOUT',
    schema: duration(100, 120_000),
    default: '10s',
    example: '5s',
    help: 'Longest time that a client may take to send one request.',
  },
  connectionsMax: {
    env: 'LAPSE_HTTP_CONNECTIONS_MAX',
    schema: wholeNumber(1, 1_000_000),
    default: '10000',
    example: '2000',
    help: 'Most open connections of one API process; more are hung up on at once. The limit of open files (ulimit -n) must be higher.',
  },
  trustProxy: {
    env: 'LAPSE_HTTP_TRUST_PROXY',
    schema: proxies(),
    optional: true,
    example: '10.0.0.0/8,loopback',
    help: 'Addresses and networks of your own proxies. From these alone is X-Forwarded-For believed; without this setting it never is, so that no client can choose its address.',
  },
});

export const limitsGroup = defineGroup({
  buyerWritesMax: {
    env: 'LAPSE_LIMIT_BUYER_WRITES',
    schema: wholeNumber(0, 1_000_000),
    default: '120',
    example: '30',
    help: 'Most orders and payments that one buyer may ask for in a minute; 0 sets no limit.',
  },
  addressRequestsMax: {
    env: 'LAPSE_LIMIT_ADDRESS_REQUESTS',
    schema: wholeNumber(0, 10_000_000),
    default: '6000',
    example: '1000',
    help: 'Most requests that one address (of IPv6: one /64) may make in a minute; 0 sets no limit. The machine itself has none. Behind a proxy set LAPSE_HTTP_TRUST_PROXY, or all clients are that one address.',
  },
});

export const authGroup = defineGroup(
  {
    jwtSecret: {
      env: 'LAPSE_JWT_SECRET',
      schema: matching(/^[\s\S]{32,1024}$/, 'must be 32 to 1024 characters long'),
      optional: true,
      example: 'the output of: openssl rand -base64 48',
      help: "Secret that signs buyers' tokens (HS256). Set this or LAPSE_JWKS_URL, not both.",
      secret: true,
    },
    jwksUrl: {
      env: 'LAPSE_JWKS_URL',
      schema: url(['https:', 'http:'], 'must be an http or https URL'),
      optional: true,
      example: 'https://login.example.com/.well-known/jwks.json',
      help: 'Public keys of your login service. Set this or LAPSE_JWT_SECRET, not both.',
    },
    issuer: {
      env: 'LAPSE_JWT_ISSUER',
      schema: matching(/^\S{1,512}$/, 'must be 1 to 512 characters without spaces'),
      optional: true,
      example: 'https://login.example.com',
      help: 'When set, tokens of another issuer (claim `iss`) are refused.',
    },
    audience: {
      env: 'LAPSE_JWT_AUDIENCE',
      schema: matching(/^\S{1,512}$/, 'must be 1 to 512 characters without spaces'),
      default: 'lapse',
      example: 'lapse',
      help: 'Tokens for another audience (claim `aud`) are refused.',
    },
  },
  ({ jwtSecret, jwksUrl }) => {
    if (jwtSecret !== undefined && jwksUrl !== undefined) {
      return [
        { env: 'LAPSE_JWKS_URL', fault: 'is set, and so is LAPSE_JWT_SECRET: keep exactly one of them' },
      ];
    }
    if (jwtSecret === undefined && jwksUrl === undefined) {
      return [
        { env: 'LAPSE_JWT_SECRET', fault: 'is missing, and so is LAPSE_JWKS_URL: set exactly one of them' },
      ];
    }
    return [];
  },
);

export const createGroup = defineGroup({
  batchMax: {
    env: 'LAPSE_CREATE_BATCH_MAX',
    schema: wholeNumber(1, 256),
    default: '256',
    example: '128',
    help: 'Most orders written in one transaction.',
  },
  queueMax: {
    env: 'LAPSE_CREATE_QUEUE_MAX',
    schema: wholeNumber(1, 100_000),
    default: '5000',
    example: '2000',
    help: 'Most orders waiting to be written; more are answered 503 with Retry-After.',
  },
});

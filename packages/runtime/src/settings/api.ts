import { defineGroup } from './setting.ts';
import { duration, host, matching, port, url, wholeNumber } from './values.ts';

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

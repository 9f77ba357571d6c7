import { defineGroup } from './setting.ts';
import { duration, host, matching, port, proxies, trueOrFalse, url, wholeNumber } from './values.ts';

const withoutPath = ({ pathname, search }: URL): boolean => pathname === '/' && search === '';

export const consoleGroup = defineGroup({
  host: {
    env: 'LAPSE_CONSOLE_HOST',
    schema: host(),
    default: '127.0.0.1',
    example: '0.0.0.0',
    help: 'Address that the page is served on.',
  },
  port: {
    env: 'LAPSE_CONSOLE_PORT',
    schema: port(),
    default: '8088',
    example: '3001',
    help: 'Port of the page; 0 takes any free one and logs it.',
  },
  publicUrl: {
    env: 'LAPSE_CONSOLE_PUBLIC_URL',
    schema: url(['https:', 'http:'], 'must be an http or https URL without path', withoutPath),
    optional: true,
    example: 'https://tickets.example.com',
    help: 'How browsers reach the page. With https the session cookie is sent by TLS alone. Without it the name that a browser asks for is believed, so set it behind a proxy.',
  },
  producerUrl: {
    env: 'LAPSE_CONSOLE_PRODUCER_URL',
    schema: url(['https:', 'http:'], 'must be an http or https URL without path', withoutPath),
    default: 'http://127.0.0.1:8080',
    example: 'http://producer.internal:8080',
    help: 'Address of the API: every change that the page makes goes through it.',
  },
  producerTimeoutMs: {
    env: 'LAPSE_CONSOLE_PRODUCER_TIMEOUT',
    schema: duration(100, 60_000),
    default: '10s',
    example: '5s',
    help: 'Longest time that the API may take to answer the page.',
  },
  cookieSecret: {
    env: 'LAPSE_CONSOLE_COOKIE_SECRET',
    schema: matching(/^[\s\S]{32,1024}$/, 'must be 32 to 1024 characters long'),
    example: 'the output of: openssl rand -base64 48',
    help: 'Encrypts the session cookie, in which the token lies. The same for all processes of the page; a new one ends every session.',
    secret: true,
  },
  guests: {
    env: 'LAPSE_CONSOLE_GUESTS',
    schema: trueOrFalse(),
    default: 'false',
    example: 'true',
    help: 'Makes every browser a buyer of its own, with a token signed by LAPSE_JWT_SECRET: for trials alone.',
  },
  streamsMax: {
    env: 'LAPSE_CONSOLE_STREAMS_MAX',
    schema: wholeNumber(1, 100_000),
    default: '2000',
    example: '5000',
    help: 'Most live views of one process of the page; more are answered 503. Each is one open connection.',
  },
  streamsPerUserMax: {
    env: 'LAPSE_CONSOLE_STREAMS_PER_USER',
    schema: wholeNumber(1, 1_000),
    default: '12',
    example: '6',
    help: 'Most live views of one user; more are answered 429.',
  },
  streamsPerAddressMax: {
    env: 'LAPSE_CONSOLE_STREAMS_PER_ADDRESS',
    schema: wholeNumber(1, 100_000),
    default: '200',
    example: '50',
    help: 'Most live views of the guests of one address (of IPv6: one /64); more are answered 429. The machine itself has no such limit. Behind a proxy set LAPSE_CONSOLE_TRUST_PROXY, or all guests are of that one address.',
  },
  trustProxy: {
    env: 'LAPSE_CONSOLE_TRUST_PROXY',
    schema: proxies(),
    optional: true,
    example: '10.0.0.0/8,loopback',
    help: 'The same as LAPSE_HTTP_TRUST_PROXY, for the page.',
  },
  salesEveryMs: {
    env: 'LAPSE_CONSOLE_SALES_EVERY',
    schema: duration(100, 60_000),
    default: '500ms',
    example: '2s',
    help: 'Time between two looks at the places left and at the orders that are watched: one for all browsers together, none while nobody watches.',
  },
  operationsEveryMs: {
    env: 'LAPSE_CONSOLE_OPERATIONS_EVERY',
    schema: duration(500, 60_000),
    default: '2s',
    example: '10s',
    help: "Time between two looks at everything that the operators' page shows; none while no operator watches.",
  },
});

import { simulatorFaults } from '@lapse/contracts';
import { defineGroup } from './setting.ts';
import { duration, host, json, matching, port, url, webhookSecret, wholeNumber } from './values.ts';

export const simulatorGroup = defineGroup(
  {
    host: {
      env: 'LAPSE_SIM_HOST',
      schema: host(),
      default: '127.0.0.1',
      example: '0.0.0.0',
      help: 'Address that the payment simulator listens on.',
    },
    port: {
      env: 'LAPSE_SIM_PORT',
      schema: port(),
      default: '8090',
      example: '8091',
      help: 'Port of the payment simulator; 0 takes any free one and logs it.',
    },
    publicUrl: {
      env: 'LAPSE_SIM_PUBLIC_URL',
      schema: url(
        ['https:', 'http:'],
        'must be an http or https URL without path',
        ({ pathname, search }) => pathname === '/' && search === '',
      ),
      optional: true,
      example: 'http://pay.example.com:8090',
      help: "Begin of the links to its payment pages, as buyers' browsers reach it. Default: host and port.",
    },
    dir: {
      env: 'LAPSE_SIM_DIR',
      schema: matching(/^[^\0]{1,1000}$/, 'must be a path of up to 1000 characters'),
      example: '/var/lib/lapse/payment-simulator',
      help: 'Folder of its journal: what it acknowledged is there after a restart. One simulator per folder.',
    },
    apiKey: {
      env: 'LAPSE_SIM_API_KEY',
      schema: matching(/^[\x21-\x7e]{16,256}$/, 'must be 16 to 256 printable ASCII characters'),
      example: 'the output of: openssl rand -base64 32',
      help: 'Key that its API asks for.',
      secret: true,
    },
    webhookUrl: {
      env: 'LAPSE_SIM_WEBHOOK_URL',
      schema: url(['https:', 'http:'], 'must be an http or https URL'),
      optional: true,
      example: 'http://127.0.0.1:8080/v1/payments/webhook',
      help: 'Where it sends events; without one it makes none.',
    },
    webhookSecret: {
      env: 'LAPSE_SIM_WEBHOOK_SECRET',
      schema: webhookSecret(),
      optional: true,
      example: 'whsec_ and the output of: openssl rand -base64 32',
      help: 'Secret that signs its events: the LAPSE_PAYMENT_WEBHOOK_SECRET of the API.',
      secret: true,
    },
    webhookTimeoutMs: {
      env: 'LAPSE_SIM_WEBHOOK_TIMEOUT',
      schema: duration(100, 60_000),
      default: '5s',
      example: '2s',
      help: 'Longest time of one delivery.',
    },
    webhookTriesMax: {
      env: 'LAPSE_SIM_WEBHOOK_TRIES_MAX',
      schema: wholeNumber(1, 1_000),
      default: '100',
      example: '10',
      help: 'Deliveries tried before an event is given up: 100 last about an hour.',
    },
    attemptsMax: {
      env: 'LAPSE_SIM_ATTEMPTS_MAX',
      schema: wholeNumber(1, 1_000_000),
      default: '100000',
      example: '5000',
      help: 'Most attempts, and most refunds, that it keeps; beyond that it answers 503. Empty the folder to begin anew.',
    },
    eventsMax: {
      env: 'LAPSE_SIM_EVENTS_MAX',
      schema: wholeNumber(10, 1_000_000),
      default: '20000',
      example: '1000',
      help: 'Most events waiting to be delivered; beyond that no payment is taken.',
    },
    faults: {
      env: 'LAPSE_SIM_FAULTS',
      schema: json(
        'must be a JSON object of faults and their rates from 0 to 1 (see simulatorFaults in packages/contracts)',
        (parsed) => simulatorFaults.parse(parsed),
      ),
      default: '{}',
      example: '{"seed":7,"duplicate":0.2,"reorder":0.2,"apiError":0.05}',
      help: 'How it misbehaves from the start; PUT /v1/faults changes it.',
    },
  },
  ({ webhookUrl, webhookSecret: secret }) =>
    webhookUrl !== undefined && secret === undefined
      ? [{ env: 'LAPSE_SIM_WEBHOOK_SECRET', fault: 'is missing: LAPSE_SIM_WEBHOOK_URL needs it' }]
      : [],
);

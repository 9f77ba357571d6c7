import { defineGroup, type SettingFault } from './setting.ts';
import { duration, oneOf, url, webhookSecret, wholeNumber } from './values.ts';
import { webhookUrl } from './webhook-values.ts';

export const notifyGroup = defineGroup(
  {
    channel: {
      env: 'LAPSE_NOTIFY_CHANNEL',
      schema: oneOf('log', 'webhook'),
      default: 'log',
      example: 'webhook',
      help: 'How buyers are told: `log` writes a log line, `webhook` calls your service.',
    },
    webhookUrl: {
      env: 'LAPSE_NOTIFY_WEBHOOK_URL',
      schema: webhookUrl(),
      optional: true,
      example: 'https://messages.example.com/lapse',
      help: 'Where notices are posted to, signed per Standard Webhooks.',
      secret: true,
    },
    webhookSecret: {
      env: 'LAPSE_NOTIFY_WEBHOOK_SECRET',
      schema: webhookSecret(),
      optional: true,
      example: 'whsec_ and the output of: openssl rand -base64 32',
      help: 'Secret that signs notices.',
      secret: true,
    },
    timeoutMs: {
      env: 'LAPSE_NOTIFY_TIMEOUT',
      schema: duration(100, 60_000),
      default: '5s',
      example: '2s',
      help: 'Longest time of one delivery.',
    },
    attemptsMax: {
      env: 'LAPSE_NOTIFY_ATTEMPTS_MAX',
      schema: wholeNumber(1, 100),
      default: '10',
      example: '5',
      help: 'Deliveries tried before a notice is parked.',
    },
    payUrl: {
      env: 'LAPSE_PAY_URL',
      schema: url(['https:', 'http:'], 'must be an http or https URL with {orderId} in it', (_, text) =>
        text.includes('{orderId}'),
      ),
      default: 'http://127.0.0.1:8080/pay/{orderId}',
      example: 'https://shop.example.com/pay/{orderId}',
      help: 'Link in a reminder; {orderId} becomes the order.',
    },
    everyMs: {
      env: 'LAPSE_NOTIFY_EVERY',
      schema: duration(50, 3_600_000),
      default: '500ms',
      example: '2s',
      help: 'Time between two looks for notices to deliver.',
    },
    batchMax: {
      env: 'LAPSE_NOTIFY_BATCH_MAX',
      schema: wholeNumber(1, 1_000),
      default: '100',
      example: '20',
      help: 'Most notices taken at a time.',
    },
  },
  ({ channel, webhookUrl, webhookSecret }) => {
    const faults: SettingFault[] = [];
    if (channel !== 'webhook') return faults;
    const fault = 'is missing: LAPSE_NOTIFY_CHANNEL=webhook needs it';
    if (webhookUrl === undefined) faults.push({ env: 'LAPSE_NOTIFY_WEBHOOK_URL', fault });
    if (webhookSecret === undefined) faults.push({ env: 'LAPSE_NOTIFY_WEBHOOK_SECRET', fault });
    return faults;
  },
);

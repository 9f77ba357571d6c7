import { defineGroup, type SettingFault } from './setting.ts';
import { duration, matching, oneOf, url, webhookSecret, wholeNumber } from './values.ts';
import { mailSender, webhookUrl } from './webhook-values.ts';

export const notifyGroup = defineGroup(
  {
    channel: {
      env: 'LAPSE_NOTIFY_CHANNEL',
      schema: oneOf('log', 'webhook', 'smtp'),
      default: 'log',
      example: 'webhook',
      help: 'How buyers are told: `log` writes a log line, `webhook` calls your service, `smtp` sends mail.',
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
    smtpUrl: {
      env: 'LAPSE_SMTP_URL',
      schema: url(
        ['smtps:', 'smtp:'],
        'must be an smtps or smtp URL without path and query',
        ({ pathname, search, hash }) => (pathname === '' || pathname === '/') && search === '' && hash === '',
      ),
      optional: true,
      example: 'smtps://lapse:password@mail.example.com:465',
      help: 'Mail server: smtps speaks TLS from the start, smtp begins it by STARTTLS.',
      secret: true,
    },
    smtpFrom: {
      env: 'LAPSE_SMTP_FROM',
      schema: mailSender(),
      optional: true,
      example: 'Example Shop <orders@shop.example.com>',
      help: 'Sender of mails.',
    },
    smtpTls: {
      env: 'LAPSE_SMTP_TLS',
      schema: oneOf('required', 'off'),
      default: 'required',
      example: 'off',
      help: 'Whether mail goes out by TLS alone. `off` is for a mail server on the same machine. A private CA goes into NODE_EXTRA_CA_CERTS.',
    },
    directoryUrl: {
      env: 'LAPSE_SMTP_DIRECTORY_URL',
      schema: url(
        ['https:', 'http:'],
        'must be an http or https URL without user and password, with {userId} in it',
        ({ username, password }, text) => username === '' && password === '' && text.includes('{userId}'),
      ),
      optional: true,
      example: 'https://users.example.com/{userId}/email',
      help: 'Where a buyer\'s address is asked for; {userId} becomes the user, the answer is {"email": "…"}, or 404. Not set, the user ids of the tokens must be e-mail addresses.',
    },
    directoryToken: {
      env: 'LAPSE_SMTP_DIRECTORY_TOKEN',
      schema: matching(/^[\x21-\x7e]{8,4096}$/, 'must be 8 to 4096 visible ASCII characters'),
      optional: true,
      example: 'the output of: openssl rand -base64 32',
      help: 'Bearer token for that directory.',
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
      default: '1s',
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
  ({
    channel,
    webhookUrl: address,
    webhookSecret: secret,
    smtpUrl,
    smtpFrom,
    directoryUrl,
    directoryToken,
  }) => {
    const needed: readonly (readonly [string, unknown])[] = {
      log: [],
      webhook: [
        ['LAPSE_NOTIFY_WEBHOOK_URL', address] as const,
        ['LAPSE_NOTIFY_WEBHOOK_SECRET', secret] as const,
      ],
      smtp: [['LAPSE_SMTP_URL', smtpUrl] as const, ['LAPSE_SMTP_FROM', smtpFrom] as const],
    }[channel];
    const faults: SettingFault[] = needed
      .filter(([, value]) => value === undefined)
      .map(([env]) => ({ env, fault: `is missing: LAPSE_NOTIFY_CHANNEL=${channel} needs it` }));
    if (directoryToken !== undefined && directoryUrl === undefined) {
      const fault = 'is missing: LAPSE_SMTP_DIRECTORY_TOKEN is for it';
      faults.push({ env: 'LAPSE_SMTP_DIRECTORY_URL', fault });
    }
    return faults;
  },
);

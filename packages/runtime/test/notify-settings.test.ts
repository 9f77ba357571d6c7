import { describe, expect, test } from 'vitest';
import { readConfig } from '../src/index.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const smtp = {
  LAPSE_NOTIFY_CHANNEL: 'smtp',
  LAPSE_SMTP_URL: 'smtps://lapse:hunter2@mail.example.com',
  LAPSE_SMTP_FROM: 'Example Shop <orders@shop.example>',
};

describe('mail', () => {
  test('goes out by TLS alone unless that is switched off', () => {
    expect(readConfig(smtp, ['notify']).notify).toMatchObject({ channel: 'smtp', smtpTls: 'required' });
  });

  test.each([
    ['LAPSE_SMTP_URL', ''],
    ['LAPSE_SMTP_FROM', ''],
    ['LAPSE_SMTP_URL', 'https://mail.example.com'],
    // Parameters of the library, such as tls.rejectUnauthorized, do not get in by the URL.
    ['LAPSE_SMTP_URL', 'smtp://mail.example.com?tls.rejectUnauthorized=false'],
    ['LAPSE_SMTP_FROM', 'a@shop.example, b@shop.example'],
    ['LAPSE_SMTP_FROM', 'Shop\r\nBcc: eve@example.com <a@shop.example>'],
    ['LAPSE_SMTP_FROM', 'orders'],
    ['LAPSE_SMTP_DIRECTORY_URL', 'https://users.example.com/email'],
    ['LAPSE_SMTP_DIRECTORY_TOKEN', 'with a space'],
    ['LAPSE_SMTP_DIRECTORY_TOKEN', 'of-no-directory'],
  ])('%s = %j is refused, and no secret is told', (name, value) => {
    const read = () => readConfig({ ...smtp, [name]: value }, ['notify']);
    expect(read).toThrow(/LAPSE_SMTP_/);
    expect(read).not.toThrow(/hunter2/);
  });
});

describe("the shop's events", () => {
  test('are off unless an address is set', () => {
    expect(readConfig({}, ['shop']).shop.webhookUrl).toBeUndefined();
  });

  test('need address and secret together', () => {
    const url = { LAPSE_SHOP_WEBHOOK_URL: 'https://shop.example/hooks' };
    expect(() => readConfig(url, ['shop'])).toThrow(/LAPSE_SHOP_WEBHOOK_SECRET is missing/);
    expect(() => readConfig({ LAPSE_SHOP_WEBHOOK_SECRET: secret }, ['shop'])).toThrow(
      /LAPSE_SHOP_WEBHOOK_URL is missing/,
    );
    expect(readConfig({ ...url, LAPSE_SHOP_WEBHOOK_SECRET: secret }, ['shop']).shop.attemptsMax).toBe(60);
  });
});

describe('private addresses for webhooks', () => {
  const read = (list: string) =>
    readConfig({ LAPSE_WEBHOOK_ALLOW_PRIVATE: list }, ['webhook']).webhook.allowPrivate;

  test('are none unless named', () => {
    expect(readConfig({}, ['webhook']).webhook.allowPrivate).toEqual([]);
    expect(read('none')).toEqual([]);
  });

  test('are addresses, ranges and host names', () => {
    expect(read('10.1.0.0/16, Messages.Internal,::1,fd00::/8')).toEqual([
      '10.1.0.0/16',
      'messages.internal',
      '::1',
      'fd00::/8',
    ]);
  });

  test.each(['10.0.0.0/33', '::/129', 'http://host', 'a b', '10.0.0.0/8/8', ',', '-host'])(
    '%j is refused',
    (list) => {
      expect(() => read(list)).toThrow(/LAPSE_WEBHOOK_ALLOW_PRIVATE/);
    },
  );
});

import { describe, expect, test } from 'vitest';
import { checkSettings } from '../src/check-settings.ts';
import { rootDir } from '../src/folders.ts';
import { requirePackage } from '../src/run-package-tests.ts';

describe('what cannot work is said before anything starts', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const shop = { LAPSE_SHOP_WEBHOOK_URL: 'http://127.0.0.1:9/hook', LAPSE_SHOP_WEBHOOK_SECRET: secret };
  const notices = {
    LAPSE_NOTIFY_CHANNEL: 'webhook',
    LAPSE_NOTIFY_WEBHOOK_URL: 'http://10.1.2.3/notices',
    LAPSE_NOTIFY_WEBHOOK_SECRET: secret,
  };

  test.each([
    ['an endpoint that is no address', { LAPSE_REDIS_URL: 'foo' }, 'LAPSE_REDIS_URL'],
    ['a database without a name', { LAPSE_MYSQL_URL: 'mysql://root@127.0.0.1' }, 'LAPSE_MYSQL_URL'],
    ['a broker without a port', { LAPSE_ROCKETMQ_ENDPOINTS: 'broker' }, 'LAPSE_ROCKETMQ_ENDPOINTS'],
    ['a misspelt setting', { LAPSE_SWEEP_EVRY: '1s' }, 'LAPSE_SWEEP_EVERY'],
    ['a shop’s system at a private address', shop, 'LAPSE_WEBHOOK_ALLOW_PRIVATE'],
    ['notices to a private address', notices, 'LAPSE_WEBHOOK_ALLOW_PRIVATE'],
  ])('%s', async (_what, env, word) => {
    await expect(checkSettings(env)).rejects.toThrow(word);
  });

  test('nothing, where nothing is wrong: a private address that is meant, endpoints of one’s own', async () => {
    await checkSettings({});
    await checkSettings({ ...shop, LAPSE_WEBHOOK_ALLOW_PRIVATE: '127.0.0.1' });
    await checkSettings({
      LAPSE_MYSQL_URL: 'mysql://root@127.0.0.1:3306/lapse',
      LAPSE_REDIS_URL: 'redis://127.0.0.1:6379',
    });
  });

  test('a package without tests, with the names of those that have some', () => {
    expect(() => requirePackage(rootDir, '@lapse/nope')).toThrow(/@lapse\/nope.*one of .*@lapse\/stock/);
    requirePackage(rootDir, '@lapse/stock');
    requirePackage(rootDir, null);
  });
});

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jwtVerify } from 'jose';
import { afterAll, expect, test } from 'vitest';
import { demoAudience, mintToken } from '../src/mint-token.ts';
import { readSecrets } from '../src/secrets.ts';

const dir = mkdtempSync(join(tmpdir(), 'lapse-secrets-'));
afterAll(() => rmSync(dir, { recursive: true }));

test('secrets are made once, at random, for their owner alone', async () => {
  const file = join(dir, 'a', 'secrets.json');
  const made = await readSecrets(file, {});
  expect(made.jwtSecret.length).toBeGreaterThanOrEqual(32);
  expect(made.webhookSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await readSecrets(file, {})).toEqual(made);
  expect(await readSecrets(join(dir, 'b', 'secrets.json'), {})).not.toEqual(made);
});

test('a file cut short is made anew, and the environment wins', async () => {
  const file = join(dir, 'secrets.json');
  writeFileSync(file, '{"jwtSecret": "x');
  expect((await readSecrets(file, {})).jwtSecret).not.toBe('x');
  expect((await readSecrets(file, { LAPSE_JWT_SECRET: 'given' })).jwtSecret).toBe('given');
  expect((await readSecrets(file, { LAPSE_SIM_API_KEY: 'given' })).simulatorKey).toBe('given');
});

test('a file of an older version keeps its secrets and gets what it lacks', async () => {
  const file = join(dir, 'older.json');
  writeFileSync(file, '{"jwtSecret": "old", "webhookSecret": "whsec_old"}');
  const secrets = await readSecrets(file, {});
  expect(secrets).toMatchObject({ jwtSecret: 'old', webhookSecret: 'whsec_old' });
  expect(secrets.simulatorKey.length).toBeGreaterThanOrEqual(32);
  expect(await readSecrets(file, {})).toEqual(secrets);
});

test('a demo token says who, what for and until when', async () => {
  const secret = 's'.repeat(32);
  const token = await mintToken(secret, { sub: 'anna', scope: 'operator', locale: 'zh' });
  const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), { audience: demoAudience });
  expect(payload).toMatchObject({
    sub: 'anna',
    scope: 'operator',
    locale: 'zh',
    aud: 'lapse',
    iss: 'lapse-demo',
  });
  expect(payload.exp).toBeGreaterThan(Date.now() / 1000);
});

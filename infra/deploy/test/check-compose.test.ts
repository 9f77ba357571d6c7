import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootDir } from '@lapse/stack';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Compose,
  checkCompose,
  checkComposeSchema,
  checkShop,
  composeFiles,
  readCompose,
} from '../src/check-compose.ts';
import { runCommand } from '../src/run-command.ts';

const shop = readCompose(join(rootDir, composeFiles[0]));

test('both compose files have nothing that their checks complain of', () => {
  expect(checkCompose(rootDir)).toEqual([]);
});

/** The shop with other fields of one service. */
function shopWith(service: string, fields: Readonly<Record<string, unknown>>): Compose {
  return { ...shop, services: { ...shop.services, [service]: { ...shop.services[service], ...fields } } };
}

describe('a compose file that would harm is a fault', () => {
  const closer = shop.services.closer;
  test.each([
    ['a file system that may be written to', { read_only: false }, 'must be read_only'],
    ['rights that it does not need', { cap_drop: [] }, 'must drop ALL'],
    ['a way to more rights', { security_opt: [] }, 'no-new-privileges'],
    ['no bound of memory', { mem_limit: undefined }, 'has no mem_limit'],
    ['too little time to stop', { stop_grace_period: '20s' }, 'has 20000 ms to stop and may need 25000'],
    ['an image without a version', { image: 'lapse-closer' }, 'its image has no version'],
    [
      'the tree of another app',
      { build: { ...closer?.build, args: { APP: 'cli' } } },
      'must be built with APP=closer',
    ],
    ['a port that the world reaches', { ports: ['9400:9400'] }, 'is open to the world'],
    [
      'a secret in the open',
      { environment: { ...closer?.environment, LAPSE_MYSQL_URL: 'mysql://a:b@c/d' } },
      'in the open',
    ],
    ['a secret that is not mounted', { secrets: ['mysql-url'] }, 'redis-url, which is not mounted'],
    ['a secret that nobody makes', { secrets: ['mysql-url', 'redis-url', 'other'] }, 'no secret other'],
    [
      'a name that is no setting',
      { environment: { ...closer?.environment, LAPSE_CLOSE_BATCH: '1' } },
      'is not a setting',
    ],
  ])('%s', (_, fields, fault) => {
    expect(checkShop(rootDir, shopWith('closer', fields)).join('\n')).toContain(fault);
  });
  test('a word that the published schema does not know', () => {
    expect(checkComposeSchema(shopWith('closer', { read_olny: true })).join('\n')).toContain('read_olny');
  });
});

describe('the secrets of a small shop', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'lapse-secrets-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  async function make(): Promise<Record<string, string>> {
    await runCommand(
      'LAPSE_DEPLOY_COMMAND',
      process.execPath,
      [join(rootDir, 'infra/deploy/make-secrets.mjs'), dir],
      {
        ...{ cwd: dir, signal: new AbortController().signal },
      },
    );
    return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]));
  }

  test('are all made, each once, and for nobody else to write', async () => {
    const made = await make();
    expect(Object.keys(made).sort()).toEqual(Object.keys(shop.secrets ?? {}).sort());
    expect(await make()).toEqual(made);
    for (const name of Object.keys(made)) expect(statSync(join(dir, name)).mode & 0o222).toBe(0);
    expect(made['mysql-url']).toContain(`:${made['mysql-password']}@`);
  });
});

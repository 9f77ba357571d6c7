import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootDir } from '@lapse/stack';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  checkCompose,
  checkComposeSchema,
  checkRegistry,
  checkShop,
  checkTrial,
  composeFiles,
  trialFile,
} from '../src/check-compose.ts';
import { type Compose, mergeCompose, readCompose } from '../src/read-compose.ts';
import { runCommand } from '../src/run-command.ts';

const shop = readCompose(join(rootDir, composeFiles[0]));
const trial = mergeCompose(shop, readCompose(join(rootDir, trialFile)));

test('no compose file has anything that its checks complain of', () => {
  expect(checkCompose(rootDir)).toEqual([]);
});

/** The shop, or its trial, with other fields of one service. */
function shopWith(service: string, fields: Readonly<Record<string, unknown>>, base = shop): Compose {
  return { ...base, services: { ...base.services, [service]: { ...base.services[service], ...fields } } };
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

describe('a trial that nobody could pay or enter is a fault', () => {
  test.each(['producer', 'settler'])('%s does not ask the simulator', (service) => {
    const before = { environment: shop.services[service]?.environment };
    expect(checkTrial(rootDir, shopWith(service, before, trial))).toEqual([
      `${service}: does not ask the payment simulator`,
    ]);
  });
  test('no guests, or guests without the secret that signs their tokens', () => {
    const { environment, secrets = [] } = trial.services.console ?? {};
    const { LAPSE_CONSOLE_GUESTS: _, ...closed } = environment ?? {};
    expect(checkTrial(rootDir, shopWith('console', { environment: closed }, trial)).join('\n')).toContain(
      'lets nobody in',
    );
    const { LAPSE_JWT_SECRET_FILE: __, ...unsigned } = environment ?? {};
    expect(checkTrial(rootDir, shopWith('console', { environment: unsigned }, trial)).join('\n')).toContain(
      'LAPSE_JWT_SECRET',
    );
    const unmounted = { secrets: secrets.filter((name) => name !== 'jwt-secret') };
    expect(checkTrial(rootDir, shopWith('console', unmounted, trial)).join('\n')).toContain('not mounted');
  });
  test('no simulator', () => {
    expect(checkTrial(rootDir, shop)).toContain('nothing runs the image of payment-simulator');
  });
});

test("an image that would be pushed to Docker Hub's library is a fault", () => {
  const env = { REGISTRY: 'registry.example.com/' };
  const pushed = readCompose(join(rootDir, composeFiles[0]), env);
  expect(checkRegistry(pushed)).toEqual([]);
  expect(checkRegistry(shopWith('closer', { image: 'lapse-closer:0.1.0' }, pushed))).toEqual([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: compose's own
    'closer: its image must begin with ${REGISTRY:-}',
  ]);
});

describe('the secrets of a small shop', () => {
  const imageUser = 1_000;
  const isRoot = process.getuid?.() === 0;
  const mayMake = isRoot || process.getuid?.() === imageUser;
  const program = join(rootDir, 'infra/deploy/make-secrets.mjs');
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lapse-secrets-'));
    chmodSync(dir, 0o711);
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  function run(uid?: number): Promise<string> {
    return runCommand('LAPSE_DEPLOY_COMMAND', process.execPath, [program, dir], {
      ...{ cwd: '/', signal: new AbortController().signal, ...(uid !== undefined && { uid }) },
    });
  }

  async function make(uid?: number): Promise<Record<string, string>> {
    await run(uid);
    return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]));
  }

  test.runIf(mayMake)("are all made, each once, and for the images' user alone to read", async () => {
    const made = await make();
    expect(Object.keys(made).sort()).toEqual(Object.keys(trial.secrets ?? {}).sort());
    for (const name of Object.keys(made)) chmodSync(join(dir, name), 0o444);
    expect(await make()).toEqual(made);
    for (const name of Object.keys(made)) {
      const { mode, uid } = statSync(join(dir, name));
      expect([mode & 0o777, uid]).toEqual([0o400, imageUser]);
    }
    expect(made['mysql-url']).toContain(`:${made['mysql-password']}@`);
  });
  test.runIf(isRoot)("are made by the images' user too, and again after root", async () => {
    chownSync(dir, imageUser, imageUser);
    const made = await make(imageUser);
    expect(await make()).toEqual(made);
    expect(await make(imageUser)).toEqual(made);
    for (const name of Object.keys(made)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o400);
  });
  test.runIf(isRoot)('where that user may not write: it says so, and what to do', async () => {
    await expect(run(imageUser)).rejects.toThrow(/LAPSE_SECRETS_USER: User 1000 has no right to .*sudo/);
  });
  test.skipIf(mayMake && !isRoot)(
    'are not made by anybody else, who could only show them to all',
    async () => {
      await expect(run(isRoot ? 1_001 : undefined)).rejects.toThrow(/LAPSE_SECRETS_USER: User .*sudo/);
      expect(readdirSync(dir)).toEqual([]);
    },
  );
});

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ensureRocketmq, findPrograms, installMissing, installMode, isRocketmqCached } from '../src/index.ts';
import { testFolder } from './test-folder.ts';

/** Put a shell script before everything else on PATH, in place of a program of the machine. */
function fakeProgram(dir: string, name: string, script: string): void {
  const bin = join(dir, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
  onTestFinished(() => void vi.unstubAllEnvs());
}

describe('finding programs', () => {
  test('finds what this machine runs its tests with', async () => {
    expect(await findPrograms()).toMatchObject({ missing: [] });
  });

  test('a Java that is too old counts as missing, and Maven only while RocketMQ is not in the cache', async () => {
    const dir = testFolder();
    vi.stubEnv('JAVA_HOME', '');
    fakeProgram(dir, 'java', `echo 'openjdk version "1.8.0_402"' >&2`);
    expect((await findPrograms()).missing).toEqual(['java']);
    fakeProgram(dir, 'java', `echo 'openjdk version "11.0.2" 2019-01-15' >&2`);
    expect((await findPrograms()).missing).toEqual([]);
  });
});

describe('installing', () => {
  const installs: string[] = [];
  const log = (line: string) => void installs.push(line);
  beforeEach(() => void installs.splice(0));

  test('nothing missing, nothing done', async () => {
    await installMissing({ missing: [], mode: 'auto', log });
    expect(installs).toEqual([]);
  });

  test('LAPSE_INSTALL=never forbids it and gives the exact commands instead', async () => {
    const attempt = installMissing({
      missing: ['mariadb', 'java'],
      mode: installMode({ LAPSE_INSTALL: 'never' }),
      log,
    });
    await expect(attempt).rejects.toThrow(/LAPSE_PROGRAM_MISSING: not found on this machine: mariadb, java/);
    await expect(attempt).rejects.toThrow(
      'sudo apt-get update && sudo apt-get install -y --no-install-recommends mariadb-server openjdk-17-jre-headless',
    );
    await expect(attempt).rejects.toThrow('sudo dnf install -y mariadb-server java-17-openjdk-headless');
    await expect(attempt).rejects.toThrow('brew install mariadb openjdk@17');
    expect(installs).toEqual([]);
  });

  test('a misspelt LAPSE_INSTALL is refused, not guessed', () => {
    expect(installMode({})).toBe('auto');
    expect(() => installMode({ LAPSE_INSTALL: 'no' })).toThrow('LAPSE_INSTALL_INVALID');
  });

  test.runIf(process.getuid?.() === 0)(
    'apt installs without recommends, and no service may start meanwhile',
    async () => {
      const dir = testFolder();
      const calls = join(dir, 'calls');
      fakeProgram(
        dir,
        'apt-get',
        `echo "$DEBIAN_FRONTEND $*" >> ${calls}; /usr/sbin/policy-rc.d; echo "policy $?" >> ${calls}`,
      );
      const policyBefore = existsSync('/usr/sbin/policy-rc.d');
      await installMissing({ missing: ['redis', 'maven'], mode: 'auto', log });
      expect(installs).toEqual([
        'installing redis-server, maven with apt-get, once (LAPSE_INSTALL=never forbids it)',
      ]);
      const options = '-o DPkg::Lock::Timeout=120';
      expect(readFileSync(calls, 'utf8').trim().split('\n')).toEqual([
        `noninteractive ${options} update -q`,
        'policy 101',
        `noninteractive ${options} install -y -q --no-install-recommends redis-server maven`,
        'policy 101',
      ]);
      expect(existsSync('/usr/sbin/policy-rc.d')).toBe(policyBefore);
    },
  );

  test.runIf(process.getuid?.() === 0)(
    'a failure of apt is told with its words, and the policy is taken away',
    async () => {
      const policyBefore = existsSync('/usr/sbin/policy-rc.d');
      fakeProgram(testFolder(), 'apt-get', 'echo "E: no such mirror" >&2; exit 100');
      await expect(installMissing({ missing: ['redis'], mode: 'auto', log })).rejects.toThrow(
        'LAPSE_INSTALL_FAILED: apt-get update failed.\nE: no such mirror',
      );
      expect(existsSync('/usr/sbin/policy-rc.d')).toBe(policyBefore);
    },
  );
});

describe('fetching RocketMQ', () => {
  const download = 'test -f pom.xml && mkdir lib && echo x > lib/a.jar && echo x > lib/b.jar';

  test('is done once; two at the same time both end with one whole copy', async () => {
    const dir = testFolder();
    const cacheDir = join(dir, 'cache');
    fakeProgram(dir, 'mvn', `echo run >> ${dir}/runs; ${download}; sleep 0.2`);
    expect(isRocketmqCached(cacheDir)).toBe(false);
    const libs = await Promise.all([ensureRocketmq(cacheDir), ensureRocketmq(cacheDir)]);
    expect(libs).toEqual([join(cacheDir, 'rocketmq-5.5.0', 'lib'), join(cacheDir, 'rocketmq-5.5.0', 'lib')]);
    expect(readdirSync(cacheDir)).toEqual(['rocketmq-5.5.0']);
    expect(isRocketmqCached(cacheDir)).toBe(true);

    fakeProgram(dir, 'mvn', 'exit 1');
    await ensureRocketmq(cacheDir);
  });

  test('a failed download says why and leaves nothing that could be taken for a copy', async () => {
    const dir = testFolder();
    const cacheDir = join(dir, 'cache');
    fakeProgram(dir, 'mvn', `${download}; echo "[ERROR] no route to host"; exit 1`);
    await expect(ensureRocketmq(cacheDir)).rejects.toThrow(/LAPSE_DOWNLOAD_FAILED(.*\n)*.*no route to host/);
    expect(readdirSync(cacheDir)).toEqual([]);
  });

  test('a damaged copy is replaced', async () => {
    const dir = testFolder();
    const cacheDir = join(dir, 'cache');
    mkdirSync(join(cacheDir, 'rocketmq-5.5.0', 'lib'), { recursive: true });
    writeFileSync(join(cacheDir, 'rocketmq-5.5.0', 'complete.json'), '{"version":"5.5.0","jars":2}');
    fakeProgram(dir, 'mvn', download);
    await ensureRocketmq(cacheDir);
    expect(isRocketmqCached(cacheDir)).toBe(true);
    expect(readdirSync(cacheDir)).toEqual(['rocketmq-5.5.0']);
  });
});

import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { findOnPath } from './find-on-path.ts';
import { LocalServiceError } from './local-service-error.ts';
import { aptPackages, type ProgramName, programMissing } from './program-missing.ts';

const run = promisify(execFile);
const aptTimeoutMs = 15 * 60_000;
const outputCharsMax = 2_000;
/** Debian asks this program before a package starts its service; 101 means "do not". */
const policyFile = '/usr/sbin/policy-rc.d';
const policyMark = '# written by lapse while it installs packages; safe to delete';

export type InstallMode = 'auto' | 'never';

/** @throws LAPSE_INSTALL_INVALID for anything else than `auto`, `never` or nothing. */
export function installMode(env: NodeJS.ProcessEnv = process.env): InstallMode {
  const value = env.LAPSE_INSTALL || 'auto';
  if (value === 'auto' || value === 'never') return value;
  throw new LocalServiceError(
    'LAPSE_INSTALL_INVALID',
    `LAPSE_INSTALL is "${value}"; it may be auto or never`,
  );
}

/**
 * Install the missing programs where that can be done without asking: on Debian and Ubuntu, as root.
 * Services of these packages are not started, and existing databases of the machine are not touched.
 * @throws LAPSE_PROGRAM_MISSING with the exact commands, everywhere else or when the mode forbids it.
 */
export async function installMissing(options: {
  readonly missing: readonly ProgramName[];
  readonly mode: InstallMode;
  readonly log: (line: string) => void;
}): Promise<void> {
  if (options.missing.length === 0) return;
  const apt = process.getuid?.() === 0 ? findOnPath(['apt-get']) : undefined;
  if (options.mode === 'never' || apt === undefined) throw programMissing(...options.missing);
  const packages = aptPackages(options.missing);
  options.log(`installing ${packages.join(', ')} with apt-get, once (LAPSE_INSTALL=never forbids it)`);
  const removePolicy = forbidServiceStarts();
  try {
    await aptGet(apt, ['update', '-q']);
    await aptGet(apt, ['install', '-y', '-q', '--no-install-recommends', ...packages]);
  } finally {
    removePolicy();
  }
}

/** A policy of the machine's owner stays as it is; one that an interrupted install left is replaced. */
function forbidServiceStarts(): () => void {
  if (existsSync(policyFile) && !readFileSync(policyFile, 'utf8').includes(policyMark)) return () => {};
  writeFileSync(policyFile, `#!/bin/sh\n${policyMark}\nexit 101\n`);
  chmodSync(policyFile, 0o755);
  return () => rmSync(policyFile, { force: true });
}

async function aptGet(apt: string, args: readonly string[]): Promise<void> {
  try {
    await run(apt, ['-o', 'DPkg::Lock::Timeout=120', ...args], {
      timeout: aptTimeoutMs,
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' },
    });
  } catch (error) {
    const stderr =
      error instanceof Error && 'stderr' in error ? String(error.stderr).slice(-outputCharsMax) : '';
    throw new LocalServiceError('LAPSE_INSTALL_FAILED', `apt-get ${args[0]} failed.\n${stderr}`, {
      cause: error,
    });
  }
}

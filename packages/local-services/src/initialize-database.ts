import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath } from './find-on-path.ts';
import type { DatabaseServer } from './find-programs.ts';
import { LocalServiceError } from './local-service-error.ts';
import { programMissing } from './program-missing.ts';

const run = promisify(execFile);
/** Takes 1 to 4 s on an idle machine. */
const initializeTimeoutMs = 180_000;
const outputCharsMax = 2_000;

/**
 * The data folder of a database server, made when it is absent. It is made beside its place and then
 * moved there, so one that was cut off half way is never mistaken for a whole one.
 */
export async function initializeDatabase(
  server: DatabaseServer,
  dir: string,
  log: (line: string) => void,
): Promise<string> {
  const dataDir = join(dir, 'data');
  if (existsSync(dataDir)) return dataDir;
  const temporary = join(dir, 'data.new');
  rmSync(temporary, { recursive: true, force: true });
  log(`making a new database folder: ${dataDir}`);
  const [command, args] = initializeCommand(server, temporary);
  try {
    await run(command, args, {
      timeout: initializeTimeoutMs,
      cwd: dir,
      maxBuffer: 16 * 1024 * 1024,
      env: { ...process.env, TMPDIR: temporaryFolder(dir) },
    });
  } catch (error) {
    const output =
      error instanceof Error && 'stderr' in error ? String(error.stderr).slice(-outputCharsMax) : '';
    throw new LocalServiceError(
      'LAPSE_SERVICE_START_FAILED',
      `${command} could not make ${dataDir}${output === '' ? '' : `:\n${output}`}`,
      { cause: error },
    );
  }
  renameSync(temporary, dataDir);
  return dataDir;
}

/** For this server alone: one that starts removes the temporary tables of every other in a shared one. */
export function temporaryFolder(dir: string): string {
  const path = join(dir, 'tmp');
  mkdirSync(path, { recursive: true });
  return path;
}

function initializeCommand(server: DatabaseServer, dataDir: string): [command: string, args: string[]] {
  const asRoot = process.getuid?.() === 0 ? ['--user=root'] : [];
  if (server.flavour === 'mysql') {
    return [server.command, ['--no-defaults', '--initialize-insecure', ...asRoot, `--datadir=${dataDir}`]];
  }
  const command = findOnPath(['mariadb-install-db', 'mysql_install_db']);
  if (command === undefined) throw programMissing('mariadb');
  return [
    command,
    [
      '--no-defaults',
      `--datadir=${dataDir}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      ...asRoot,
    ],
  ];
}

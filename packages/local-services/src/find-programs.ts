import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath } from './find-on-path.ts';
import type { ProgramName } from './program-missing.ts';
import { isRocketmqCached } from './rocketmq-cache.ts';

const run = promisify(execFile);
const versionTimeoutMs = 20_000;
const javaVersionMin = 11;

export interface DatabaseServer {
  readonly command: string;
  readonly flavour: 'mariadb' | 'mysql';
}

export interface Programs {
  readonly database: DatabaseServer | undefined;
  readonly redis: string | undefined;
  /** Version 11 or newer. */
  readonly java: string | undefined;
  readonly maven: string | undefined;
  /** A browser for the tests of the page. */
  readonly chromium: string | undefined;
  /** What local services still need. Maven counts only while RocketMQ is not in the cache. */
  readonly missing: readonly ProgramName[];
}

/** Look for everything that the local services run. Changes nothing. */
export async function findPrograms(options: { cacheDir?: string } = {}): Promise<Programs> {
  const [database, java] = await Promise.all([findDatabaseServer(), findJava()]);
  const redis = findOnPath(['redis-server', 'valkey-server']);
  const maven = findOnPath(['mvn']);
  const chromium = findChromium();
  const missing: ProgramName[] = [];
  if (database === undefined) missing.push('mariadb');
  if (redis === undefined) missing.push('redis');
  if (java === undefined) missing.push('java');
  if (chromium === undefined) missing.push('chromium');
  if (maven === undefined && !isRocketmqCached(options.cacheDir)) missing.push('maven');
  return { database, redis, java, maven, chromium, missing };
}

const chromeOfMacos = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

export function findChromium(): string | undefined {
  return (
    findOnPath(['chromium', 'chromium-browser', 'google-chrome']) ??
    (existsSync(chromeOfMacos) ? chromeOfMacos : undefined)
  );
}

/** MariaDB first. Its package installs a `mysqld` as well, so the version text decides. */
export async function findDatabaseServer(): Promise<DatabaseServer | undefined> {
  const command = findOnPath(['mariadbd', 'mysqld']);
  if (command === undefined) return undefined;
  const text = await versionText(command, ['--no-defaults', '--version']);
  if (text === undefined) return undefined;
  return { command, flavour: /mariadb/i.test(text) ? 'mariadb' : 'mysql' };
}

/** A Java that can run the broker. macOS has a `java` that only says that there is none. */
export async function findJava(): Promise<string | undefined> {
  const home = process.env.JAVA_HOME;
  const inHome = home === undefined ? undefined : join(home, 'bin', 'java');
  const candidates = [inHome, findOnPath(['java'])].filter((file) => file !== undefined && existsSync(file));
  for (const candidate of candidates) {
    const text = candidate === undefined ? undefined : await versionText(candidate, ['-version']);
    const version = Number(/version "(?:1\.)?(\d+)/.exec(text ?? '')?.[1] ?? 0);
    if (version >= javaVersionMin) return candidate;
  }
  return undefined;
}

/** Whatever the program prints about itself, or undefined when it does not run. */
async function versionText(command: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout, stderr } = await run(command, args, { timeout: versionTimeoutMs });
    return stdout + stderr;
  } catch {
    return undefined;
  }
}

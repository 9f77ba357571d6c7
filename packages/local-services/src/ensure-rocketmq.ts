import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath } from './find-on-path.ts';
import { LocalServiceError } from './local-service-error.ts';
import { programMissing } from './program-missing.ts';
import {
  countJars,
  defaultCacheDir,
  isRocketmqCached,
  markerName,
  rocketmqFolder,
  rocketmqVersion,
} from './rocketmq-cache.ts';
import { writeJson } from './write-json.ts';

const run = promisify(execFile);
/** 50 s with an empty Maven repository on a good line, 7 s with a warm one. */
const downloadTimeoutMs = 15 * 60_000;
const outputCharsMax = 2_000;
const artifacts = ['rocketmq-namesrv', 'rocketmq-proxy', 'rocketmq-tools'];

/**
 * The libraries of RocketMQ, through Maven, once for all projects of this user. Made beside its place
 * and moved there whole; two processes that do it at once both end with a good copy.
 * @returns the folder with the jar files.
 */
export async function ensureRocketmq(
  cacheDir: string = defaultCacheDir(),
  log: (line: string) => void = () => {},
): Promise<string> {
  const folder = rocketmqFolder(cacheDir);
  const lib = join(folder, 'lib');
  if (isRocketmqCached(cacheDir)) return lib;
  const maven = findOnPath(['mvn']);
  if (maven === undefined) throw programMissing('maven');
  mkdirSync(cacheDir, { recursive: true });
  const temporary = mkdtempSync(join(cacheDir, 'download-'));
  try {
    log(`downloading RocketMQ ${rocketmqVersion} with Maven, once: about 100 MB into ${folder}`);
    await copyDependencies(maven, temporary);
    rmSync(join(temporary, 'pom.xml'));
    writeJson(join(temporary, markerName), {
      version: rocketmqVersion,
      jars: countJars(join(temporary, 'lib')),
    });
    moveIntoPlace(temporary, folder, cacheDir);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return lib;
}

async function copyDependencies(maven: string, dir: string): Promise<void> {
  writeFileSync(join(dir, 'pom.xml'), pom());
  const args = [
    '-q',
    '-B',
    'dependency:copy-dependencies',
    '-DincludeScope=runtime',
    '-DoutputDirectory=lib',
  ];
  try {
    await run(maven, args, { cwd: dir, timeout: downloadTimeoutMs, maxBuffer: 16 * 1024 * 1024 });
  } catch (error) {
    const output =
      error instanceof Error && 'stdout' in error ? String(error.stdout).slice(-outputCharsMax) : '';
    throw new LocalServiceError(
      'LAPSE_DOWNLOAD_FAILED',
      `Maven could not fetch RocketMQ ${rocketmqVersion}. It needs Maven Central, or a mirror of it in ~/.m2/settings.xml.\n${output}`,
      { cause: error },
    );
  }
  if (countJars(join(dir, 'lib')) === 0) {
    throw new LocalServiceError('LAPSE_DOWNLOAD_FAILED', 'Maven ended well but copied no library');
  }
}

function moveIntoPlace(temporary: string, folder: string, cacheDir: string): void {
  try {
    renameSync(temporary, folder);
  } catch (error) {
    // Somebody else was faster, or a damaged copy is in the way.
    if (isRocketmqCached(cacheDir)) return;
    const damaged = mkdtempSync(join(cacheDir, 'damaged-'));
    try {
      renameSync(folder, join(damaged, 'old'));
      renameSync(temporary, folder);
    } catch {
      if (!isRocketmqCached(cacheDir)) throw error;
    } finally {
      rmSync(damaged, { recursive: true, force: true });
    }
  }
}

function pom(): string {
  const dependencies = artifacts.map(
    (artifact) =>
      `<dependency><groupId>org.apache.rocketmq</groupId><artifactId>${artifact}</artifactId>` +
      `<version>${rocketmqVersion}</version></dependency>`,
  );
  return [
    '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>',
    '<groupId>lapse</groupId><artifactId>rocketmq-runtime</artifactId><version>1</version>',
    `<packaging>pom</packaging><dependencies>${dependencies.join('')}</dependencies></project>`,
    '',
  ].join('\n');
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepLog, nodeArgs, waitUntil } from '@lapse/testing';
import { confinedEnv, imageUser, readOnlyArgs } from './confine.ts';
import { DeployError } from './deploy-error.ts';

const readyTimeoutMs = 60_000;
const probeEveryMs = 50;
const probeTimeoutMs = 2_000;
/** Above the processes' own limit of stopping. */
const stopTimeoutMs = 20_000;
/** The end of its output that an error quotes, in characters. */
const quotedMax = 3_000;
const bytesPerKb = 1_024;

export interface Started {
  readonly app: string;
  /** From the start of the program to the first 200 of /readyz, in milliseconds. */
  readonly readyMs: number;
  /** Resident memory now, in bytes; undefined where the system has no /proc. */
  readonly rssBytes: () => number | undefined;
  /** SIGTERM. @throws {DeployError} LAPSE_DEPLOY_START when it does not exit with 0 within 20 s. */
  readonly stop: () => Promise<void>;
  /** SIGKILL; does nothing where it has exited. */
  readonly kill: () => void;
}

export interface StartOptions {
  readonly app: string;
  readonly tree: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly opsPort: number;
  /** Folders that it may write to; anything else is refused. */
  readonly writable: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Start the process of a tree as its image does: as another user than root (where this one is root), in an empty
 * folder, with no home, no way to write to a file and no other environment than the given one.
 * @throws {DeployError} LAPSE_DEPLOY_START with the end of its output, when it is not ready within a minute.
 */
export async function startTree(options: StartOptions): Promise<Started> {
  const { app, tree, cwd, env, opsPort, writable, signal } = options;
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [...readOnlyArgs(writable), ...nodeArgs, join(tree, 'dist', 'main.js')],
    {
      ...{ cwd, signal, env: confinedEnv({ ...env, LAPSE_OPS_PORT: String(opsPort) }) },
      ...(imageUser !== undefined && { uid: imageUser, gid: imageUser }),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  const append = (chunk: string): void => {
    keepLog(`image-${app}-${child.pid}`, chunk);
    output = (output + chunk).slice(-quotedMax);
  };
  child.stdout.setEncoding('utf8').on('data', append);
  child.stderr.setEncoding('utf8').on('data', append);
  let ended = false;
  const exited = exitCode(child).then((code) => {
    ended = true;
    return code;
  });
  const fail = (what: string, cause?: unknown): DeployError =>
    new DeployError('LAPSE_DEPLOY_START', `${app} ${what}:\n${output.trim()}`, { cause });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    const code = await exited;
    clearTimeout(timer);
    if (code !== 0) throw fail(`was told to stop and exited with ${code ?? 'a signal'}`);
  };
  const isReady = async (): Promise<boolean> =>
    ended ||
    (await fetch(`http://127.0.0.1:${opsPort}/readyz`, { signal: AbortSignal.timeout(probeTimeoutMs) })).ok;
  try {
    await waitUntil(isReady, { what: `/readyz of ${app}`, timeoutMs: readyTimeoutMs, everyMs: probeEveryMs });
  } catch (error) {
    child.kill('SIGKILL');
    await exited;
    throw fail('did not become ready', error);
  }
  const readyMs = performance.now() - startedAt;
  if (ended) throw fail('exited before it was ready');
  return { app, readyMs, rssBytes: () => readRss(child.pid), stop, kill: () => void child.kill('SIGKILL') };
}

/** Null when a signal ended it, or it could not be started. */
async function exitCode(child: ChildProcess): Promise<number | null> {
  try {
    const [code] = await once(child, 'close');
    return code as number | null;
  } catch {
    return null;
  }
}

function readRss(pid: number | undefined): number | undefined {
  try {
    const kb = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kb === undefined ? undefined : Number(kb) * bytesPerKb;
  } catch {
    return undefined;
  }
}

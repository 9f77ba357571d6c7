import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { findOnPath } from './find-on-path.ts';
import { commandOf } from './process-identity.ts';

const run = promisify(execFile);
const lsofTimeoutMs = 5_000;
const listenState = '0A';

/**
 * Who listens on a local TCP port, as "process 123 (redis-server 127.0.0.1:6379)". Undefined when
 * nobody does, or when the holder belongs to another user and cannot be seen.
 */
export async function describePortHolder(port: number): Promise<string | undefined> {
  const pid = await findPortHolder(port);
  if (pid === undefined) return undefined;
  const command = commandOf(pid);
  return `process ${pid}${command === undefined ? '' : ` (${command})`}`;
}

/** The id of the process that listens there. Undefined as above. */
export async function findPortHolder(port: number): Promise<number | undefined> {
  return (await holderFromProc(port)) ?? (await holderFromLsof(port));
}

async function holderFromProc(port: number): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readOrEmpty));
  const inodes = new Set(tables.flatMap((table) => listeningInodes(table, port)));
  if (inodes.size === 0) return undefined;
  const links = new Set([...inodes].map((inode) => `socket:[${inode}]`));
  for (const name of await readdir('/proc')) {
    if (/^\d+$/.test(name) && (await holdsOneOf(name, links))) return Number(name);
  }
  return undefined;
}

/** Columns: slot, local address (hex:port), remote address, state, …, inode in column 9. */
function listeningInodes(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(suffix) && columns[3] === listenState)
    .flatMap((columns) => columns[9] ?? []);
}

async function holdsOneOf(pid: string, links: ReadonlySet<string>): Promise<boolean> {
  try {
    for (const fd of await readdir(`/proc/${pid}/fd`)) {
      if (links.has(await readlink(`/proc/${pid}/fd/${fd}`).catch(() => ''))) return true;
    }
  } catch {
    // Another user's process, or one that has just exited.
  }
  return false;
}

async function holderFromLsof(port: number): Promise<number | undefined> {
  const lsof = findOnPath(['lsof']);
  if (lsof === undefined) return undefined;
  try {
    const { stdout } = await run(lsof, ['-nP', '-t', `-iTCP:${port}`, '-sTCP:LISTEN'], {
      timeout: lsofTimeoutMs,
    });
    const pid = Number(stdout.trim().split('\n')[0]);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

async function readOrEmpty(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

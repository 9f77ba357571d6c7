import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identifyProcess, isAlive, type ProcessIdentity } from './process-identity.ts';
import { readJson, writeJson } from './write-json.ts';

/** One running child, as `processes.json` of its data folder remembers it. */
export interface RegisteredProcess extends ProcessIdentity {
  readonly name: string;
  /** Who started it. While that process lives, the child is in use and not a leftover. */
  readonly parent: ProcessIdentity;
}

const registryName = 'processes.json';
const pollMs = 25;
/** After SIGKILL only the kernel stands in the way; longer than this means an unkillable process. */
const killedWithinMs = 5_000;

/**
 * Remember a child in its data folder, so that a hard-killed parent's children can be found again.
 * A folder belongs to one parent at a time, so read-change-write needs no lock.
 */
export function recordProcess(dir: string, name: string, child: ProcessIdentity): void {
  const parent = identifyProcess(process.pid);
  if (parent === undefined) return;
  writeRegistry(dir, [
    ...readRegistry(dir).filter((entry) => entry.pid !== child.pid),
    { name, ...child, parent },
  ]);
}

/** Forget a child that has exited. */
export function forgetProcess(dir: string, pid: number): void {
  if (!existsSync(join(dir, registryName))) return;
  writeRegistry(
    dir,
    readRegistry(dir).filter((entry) => entry.pid !== pid),
  );
}

/** Children of this folder that live and whose parent lives as well: the folder is in use. */
export function findInUse(dir: string): readonly RegisteredProcess[] {
  return readRegistry(dir).filter((entry) => isAlive(entry) && isAlive(entry.parent));
}

/**
 * Stop what a hard-killed parent left behind, in this folder and in the folders right below it.
 * Newest first (a broker before its name server), SIGTERM and then, after `graceMs`, SIGKILL.
 * A process with another start time is somebody else's and is never touched; nor is one whose
 * parent lives. Running it twice, or at once, does no harm.
 * @returns what was found running.
 */
export async function reapLeftovers(
  dir: string,
  options: { log?: (line: string) => void; graceMs?: number } = {},
): Promise<readonly RegisteredProcess[]> {
  const folders = [dir, ...subfolders(dir)];
  const found = await Promise.all(folders.map((folder) => reapFolder(folder, options)));
  return found.flat();
}

async function reapFolder(
  dir: string,
  { log = () => {}, graceMs = 30_000 }: { log?: (line: string) => void; graceMs?: number },
): Promise<readonly RegisteredProcess[]> {
  const leftovers = readRegistry(dir).filter((entry) => !isAlive(entry.parent));
  const reaped: RegisteredProcess[] = [];
  for (const entry of leftovers.reverse()) {
    if (isAlive(entry)) {
      log(`stopping ${entry.name} (pid ${entry.pid}), left by an earlier run that was killed`);
      await stopIdentified(entry, graceMs);
      reaped.push(entry);
    }
    forgetProcess(dir, entry.pid);
  }
  return reaped;
}

async function stopIdentified(identity: ProcessIdentity, graceMs: number): Promise<void> {
  // The second signal lets a frozen process see the first.
  signalGroup(identity.pid, 'SIGTERM');
  signalGroup(identity.pid, 'SIGCONT');
  if (await isGoneWithin(identity, graceMs)) return;
  signalGroup(identity.pid, 'SIGKILL');
  await isGoneWithin(identity, killedWithinMs);
}

async function isGoneWithin(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (isAlive(identity)) {
    if (Date.now() >= deadline) return false;
    await sleep(pollMs);
  }
  return true;
}

/** Signal a child and whatever it started; each child leads its own group. False when it is gone. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

function readRegistry(dir: string): RegisteredProcess[] {
  const value = readJson(join(dir, registryName));
  return Array.isArray(value) ? value.filter(isRegisteredProcess) : [];
}

function writeRegistry(dir: string, entries: readonly RegisteredProcess[]): void {
  writeJson(join(dir, registryName), entries);
}

function subfolders(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(dir, entry.name));
}

function isRegisteredProcess(value: unknown): value is RegisteredProcess {
  return (
    isIdentity(value) &&
    'name' in value &&
    typeof value.name === 'string' &&
    'parent' in value &&
    isIdentity(value.parent)
  );
}

/** Numbers 0 and 1 mean "my group" and init to kill(2): a damaged file must never lead there. */
export function isIdentity(value: unknown): value is ProcessIdentity {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    Number.isSafeInteger(value.pid) &&
    Number(value.pid) > 1 &&
    'startedAt' in value &&
    typeof value.startedAt === 'string'
  );
}

import { linkSync, mkdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { LocalServiceError } from './local-service-error.ts';
import { commandOf, identifyProcess, isAlive, type ProcessIdentity } from './process-identity.ts';
import { isIdentity } from './process-registry.ts';
import { readJson } from './write-json.ts';

/** Held until `release()`; a process that dies without it leaves a stale lock, which the next one takes over. */
export interface FolderLock {
  release(): void;
}

/** A takeover is a few file operations; one that is older than this was cut off half way. */
const takeoverMaxMs = 10_000;
const attemptsMax = 5;

/**
 * Take a data folder for this process alone. Two starts on one folder would let two servers write the
 * same files. A lock whose holder is dead (or whose number now belongs to another process) is taken over.
 * @throws LAPSE_FOLDER_LOCKED naming the holder.
 */
export function lockFolder(dir: string): FolderLock {
  const self = identifyProcess(process.pid);
  if (self === undefined)
    throw new LocalServiceError('LAPSE_FOLDER_LOCKED', 'cannot read the start time of this process');
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'lock.json');
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    if (createLock(file, self)) return { release: () => releaseLock(file, self) };
    const holder = readHolder(file);
    if (holder !== undefined && isAlive(holder)) throw lockedBy(dir, holder);
    removeStale(file);
  }
  throw new LocalServiceError(
    'LAPSE_FOLDER_LOCKED',
    `${resolve(dir)} is being taken by several processes at once; try again`,
  );
}

/** A hard link appears at once with its content, so no reader ever sees an empty lock. */
function createLock(file: string, self: ProcessIdentity): boolean {
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(self)}\n`);
  try {
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Only one process removes at a time, and looks again first: else it could remove a lock just taken. */
function removeStale(file: string): void {
  const gate = `${file}.takeover`;
  try {
    mkdirSync(gate);
  } catch {
    const age = Date.now() - (statSync(gate, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > takeoverMaxMs) rmdirSync(gate);
    return;
  }
  try {
    const holder = readHolder(file);
    if (holder === undefined || !isAlive(holder)) rmSync(file, { force: true });
  } finally {
    rmdirSync(gate);
  }
}

function releaseLock(file: string, self: ProcessIdentity): void {
  const holder = readHolder(file);
  if (holder?.pid === self.pid && holder.startedAt === self.startedAt) rmSync(file, { force: true });
}

function readHolder(file: string): ProcessIdentity | undefined {
  const value = readJson(file);
  return isIdentity(value) ? value : undefined;
}

function lockedBy(dir: string, holder: ProcessIdentity): LocalServiceError {
  const command = commandOf(holder.pid);
  return new LocalServiceError(
    'LAPSE_FOLDER_LOCKED',
    `${resolve(dir)} is in use by process ${holder.pid}${command === undefined ? '' : ` (${command})`}. ` +
      `Stop it first (kill ${holder.pid}), or choose another folder.`,
  );
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

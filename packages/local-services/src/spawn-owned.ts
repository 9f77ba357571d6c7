import { execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findOnPath } from './find-on-path.ts';
import { openLog, readLogTail } from './log-file.ts';
import { identifyProcess } from './process-identity.ts';
import { forgetProcess, recordProcess, signalGroup } from './process-registry.ts';

export interface SpawnPlan {
  /** Unique in `dir`; names the log file and the registry entry. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Data folder: working directory, log and `processes.json`. */
  readonly dir: string;
  readonly env?: NodeJS.ProcessEnv;
  /** False leaves the child running when this process is killed hard; only tests want that. */
  readonly dieWithParent?: boolean;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child in a process group of its own, remembered on disk, which dies with this process. */
export interface OwnedProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Never rejects. A program that could not be started exits with code 127. */
  readonly exit: Promise<ProcessExit>;
  readonly exited: ProcessExit | undefined;
  /** To the child and whatever it started. Does nothing once it has exited. */
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM, wait, and SIGKILL after `graceMs`. Resolves once the process is gone. Idempotent. */
  stop(graceMs: number): Promise<ProcessExit>;
  /** The last lines of what this child wrote. */
  logTail(): string;
}

const live = new Set<OwnedProcess>();
let exitHookInstalled = false;

/** Start a child that cannot outlive its parent and never hears the terminal's Ctrl-C itself. */
export function spawnOwned(plan: SpawnPlan): OwnedProcess {
  mkdirSync(plan.dir, { recursive: true });
  const logFile = join(plan.dir, `${plan.name}.log`);
  const { fd, startsAt } = openLog(logFile);
  const [command, args] = dieWithParent(plan);
  const child = spawn(command, args, {
    cwd: plan.dir,
    env: plan.env ?? serviceEnv(),
    // Its own group: the parent decides the order of stopping, not the terminal.
    detached: true,
    stdio: ['ignore', fd, fd],
  });
  closeSync(fd);
  const pid = child.pid ?? 0;
  let exited: ProcessExit | undefined;
  let spawnFailure = '';
  const exit = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      spawnFailure = error.message;
      if (pid === 0) resolve({ code: 127, signal: null });
    });
  }).then((result) => {
    exited = result;
    live.delete(owned);
    forgetProcess(plan.dir, pid);
    return result;
  });
  const owned: OwnedProcess = {
    name: plan.name,
    pid,
    logFile,
    exit,
    get exited() {
      return exited;
    },
    signal: (signal) => void (exited === undefined && pid > 1 && signalGroup(pid, signal)),
    stop: (graceMs) => stopProcess(owned, graceMs),
    logTail: () => spawnFailure || readLogTail(logFile, startsAt),
  };
  keep(owned, plan.dir);
  return owned;
}

async function stopProcess(owned: OwnedProcess, graceMs: number): Promise<ProcessExit> {
  owned.signal('SIGTERM');
  // Lets a frozen process see the signal before.
  owned.signal('SIGCONT');
  const timer = new AbortController();
  const late = sleep(graceMs, undefined, { signal: timer.signal }).then(
    () => owned.signal('SIGKILL'),
    () => {},
  );
  const exit = await owned.exit;
  timer.abort();
  await late;
  return exit;
}

/** Written before anything waits for the child, so a parent killed one step later is cleaned up after. */
function keep(owned: OwnedProcess, dir: string): void {
  const identity = owned.pid > 1 ? identifyProcess(owned.pid) : undefined;
  if (identity === undefined) return;
  recordProcess(dir, owned.name, identity);
  live.add(owned);
  if (exitHookInstalled) return;
  exitHookInstalled = true;
  // For a parent that exits without stopping its children, where the kernel does not see to it (macOS).
  process.on('exit', () => {
    for (const child of live) {
      child.signal('SIGTERM');
      child.signal('SIGCONT');
    }
  });
}

/** The kernel sends SIGTERM when the parent dies, however it dies. BusyBox's setpriv cannot, hence the trial. */
let setprivPath: string | undefined | null = null;

function dieWithParent(plan: SpawnPlan): [command: string, args: string[]] {
  if (setprivPath === null) setprivPath = findSetpriv();
  if (setprivPath === undefined || plan.dieWithParent === false) return [plan.command, [...plan.args]];
  return [setprivPath, ['--pdeathsig', 'TERM', '--', plan.command, ...plan.args]];
}

function findSetpriv(): string | undefined {
  const path = process.platform === 'linux' ? findOnPath(['setpriv']) : undefined;
  if (path === undefined) return undefined;
  try {
    execFileSync(path, ['--pdeathsig', 'TERM', '--', 'true'], { stdio: 'ignore', timeout: 5_000 });
    return path;
  } catch {
    return undefined;
  }
}

/** Services need nothing of Lapse's own settings, which may hold secrets. */
function serviceEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('LAPSE_')));
}

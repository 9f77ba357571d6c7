import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; equal only for the same process on the same boot of the same machine. */
  readonly startedAt: string;
}

const psTimeoutMs = 2_000;

/** The identity of a running process; undefined when there is none. A zombie counts as dead. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** Whether that very process still runs. A new process under the same number does not count. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt;
}

/** The command line of a process without its program's folder, for messages only; undefined where it cannot be read. */
export function commandOf(pid: number): string | undefined {
  try {
    const text =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        : ps(pid, 'command=');
    return (
      text
        .trim()
        .replace(/^\S*\//, '')
        .slice(0, 120) || undefined
    );
  } catch {
    return undefined;
  }
}

function startFromProc(pid: number): string | undefined {
  try {
    // The command (field 2) may hold spaces and brackets, so count from behind its last bracket.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const state = fields[0];
    const startTicks = fields[19];
    if (startTicks === undefined || state === 'Z' || state === 'X') return undefined;
    // Ticks count from the boot, so the boot is part of the identity.
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim().slice(0, 8)}:${startTicks}`;
  } catch {
    return undefined;
  }
}

function startFromPs(pid: number): string | undefined {
  try {
    const [state = '', ...start] = ps(pid, 'stat=,lstart=').trim().split(/\s+/);
    return state === '' || state.startsWith('Z') ? undefined : start.join(' ');
  } catch {
    return undefined;
  }
}

function ps(pid: number, columns: string): string {
  return execFileSync('ps', ['-o', columns, '-p', String(pid)], {
    encoding: 'utf8',
    timeout: psTimeoutMs,
    stdio: ['ignore', 'pipe', 'ignore'],
    // A translated date would differ between two shells of the same person.
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
  });
}

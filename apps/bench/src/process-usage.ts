import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** Process ids by the name under which they are reported; several of a name are added up. */
export type NamedPids = Readonly<Record<string, readonly number[]>>;

/** What the kernel says of a process and its children, which may be one a connection. */
export interface ProcessUsage {
  /** User and system time since its start, children that have exited included, in microseconds, in steps of a tick (10 ms as a rule). */
  readonly cpuUs: number;
  /** Memory it has resident now; of a child what it shares with nobody. */
  readonly rssBytes: number;
  /** Most memory it had resident since its start, or since `forgetPeak`, and what its children have now. */
  readonly rssPeakBytes: number;
}

const bytesPerKb = 1_024;
const usPerSecond = 1_000_000;
let ticks: number | undefined;

/**
 * CPU time of /proc/PID/stat: fields 14 to 17, counted behind the command in brackets, which may hold spaces and
 * brackets itself. The last two are those of children that have exited.
 */
export function cpuUsOfStat(stat: string, ticksPerSecond: number): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // The state is field 3.
  const used = fields.slice(14 - 3, 17 - 3 + 1).map(Number);
  return (used.reduce((sum, each) => sum + each, 0) * usPerSecond) / ticksPerSecond;
}

/** VmRSS and VmHWM of /proc/PID/status. */
export function rssOfStatus(status: string): Pick<ProcessUsage, 'rssBytes' | 'rssPeakBytes'> {
  const bytesOf = (line: RegExp): number => Number(line.exec(status)?.[1] ?? Number.NaN) * bytesPerKb;
  return { rssBytes: bytesOf(/^VmRSS:\s*(\d+) kB$/m), rssPeakBytes: bytesOf(/^VmHWM:\s*(\d+) kB$/m) };
}

/** Undefined where the system has no /proc, or the process is gone: then it is not measured. */
export function readUsage(pid: number): ProcessUsage | undefined {
  try {
    // First: what exits meanwhile is then in the parent's time, not lost.
    const children = childrenOf(pid).map(readChild);
    const cpuUs = readCpuUs(pid);
    const { rssBytes, rssPeakBytes } = rssOfStatus(readFileSync(`/proc/${pid}/status`, 'latin1'));
    const privateBytes = children.reduce((sum, child) => sum + child.privateBytes, 0);
    return {
      cpuUs: children.reduce((sum, child) => sum + child.cpuUs, cpuUs),
      rssBytes: rssBytes + privateBytes,
      rssPeakBytes: rssPeakBytes + privateBytes,
    };
  } catch {
    return undefined;
  }
}

function readCpuUs(pid: number): number {
  return cpuUsOfStat(readFileSync(`/proc/${pid}/stat`, 'latin1'), ticksPerSecond());
}

/** Those that its first thread started: a kernel may keep no such list. */
function childrenOf(pid: number): number[] {
  try {
    const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1');
    return list.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function readChild(pid: number): { readonly cpuUs: number; readonly privateBytes: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const privateKb = Number(/^RssAnon:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0);
    return { cpuUs: readCpuUs(pid), privateBytes: privateKb * bytesPerKb };
  } catch {
    return { cpuUs: 0, privateBytes: 0 };
  }
}

/** The next peak counts from now. Best effort: a process of another user keeps its old one. */
export function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // The peak then is that since the start of the process.
  }
}

function ticksPerSecond(): number {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ticks;
}

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** Process ids by the name under which they are reported; several of a name are added up. */
export type NamedPids = Readonly<Record<string, readonly number[]>>;

/** What the kernel says of a process. */
export interface ProcessUsage {
  /** User and system time since its start, in microseconds, in steps of a tick (10 ms as a rule). */
  readonly cpuUs: number;
  /** Memory it has resident now. */
  readonly rssBytes: number;
  /** Most memory it had resident since its start, or since `forgetPeak`. */
  readonly rssPeakBytes: number;
}

const bytesPerKb = 1_024;
const usPerSecond = 1_000_000;
let ticks: number | undefined;

/**
 * CPU time of /proc/PID/stat: fields 14 and 15, counted behind the command in brackets, which may hold spaces and
 * brackets itself. Times of children that have exited are not in it.
 */
export function cpuUsOfStat(stat: string, ticksPerSecond: number): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // The state is field 3.
  const [user, system] = [fields[14 - 3], fields[15 - 3]].map(Number);
  return (((user ?? Number.NaN) + (system ?? Number.NaN)) * usPerSecond) / ticksPerSecond;
}

/** VmRSS and VmHWM of /proc/PID/status. */
export function rssOfStatus(status: string): Pick<ProcessUsage, 'rssBytes' | 'rssPeakBytes'> {
  const bytesOf = (line: RegExp): number => Number(line.exec(status)?.[1] ?? Number.NaN) * bytesPerKb;
  return { rssBytes: bytesOf(/^VmRSS:\s*(\d+) kB$/m), rssPeakBytes: bytesOf(/^VmHWM:\s*(\d+) kB$/m) };
}

/** Undefined where the system has no /proc, or the process is gone: then it is not measured. */
export function readUsage(pid: number): ProcessUsage | undefined {
  try {
    return {
      cpuUs: cpuUsOfStat(readFileSync(`/proc/${pid}/stat`, 'latin1'), ticksPerSecond()),
      ...rssOfStatus(readFileSync(`/proc/${pid}/status`, 'latin1')),
    };
  } catch {
    return undefined;
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

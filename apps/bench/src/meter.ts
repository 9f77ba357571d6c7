import { forgetPeak, type ProcessUsage, readUsage } from './process-usage.ts';

/** Process ids by the name under which they are reported; several of a name are added up. */
export type NamedPids = Readonly<Record<string, readonly number[]>>;

export interface Usage {
  readonly cpuUs: number;
  readonly rssPeakBytes: number;
}

export interface Meter {
  /** What each has used since the meter was opened. A name is missing where it could not be measured. */
  readonly read: () => Record<string, Usage>;
}

/** Begin to count what these processes use. A process that ends, or is not there, makes its name unmeasured. */
export function openMeter(
  pids: NamedPids,
  read: (pid: number) => ProcessUsage | undefined = readUsage,
): Meter {
  for (const pid of Object.values(pids).flat()) forgetPeak(pid);
  const before = new Map(
    Object.values(pids)
      .flat()
      .map((pid) => [pid, read(pid)]),
  );
  return {
    read: () =>
      Object.fromEntries(
        Object.entries(pids).flatMap(([name, own]) => {
          const used = own.map((pid) => difference(before.get(pid), read(pid)));
          const known = used.filter((usage) => usage !== undefined);
          return known.length === 0 || known.length < used.length ? [] : [[name, total(known)]];
        }),
      ),
  };
}

function difference(before: ProcessUsage | undefined, now: ProcessUsage | undefined): Usage | undefined {
  if (before === undefined || now === undefined) return undefined;
  return { cpuUs: now.cpuUs - before.cpuUs, rssPeakBytes: now.rssPeakBytes };
}

function total(usages: readonly Usage[]): Usage {
  return usages.reduce((sum, usage) => ({
    cpuUs: sum.cpuUs + usage.cpuUs,
    rssPeakBytes: sum.rssPeakBytes + usage.rssPeakBytes,
  }));
}

import { forgetPeak, type NamedPids, type ProcessUsage, readUsage } from './process-usage.ts';
import { type RssPoint, watchRss } from './rss-over-time.ts';

export interface Usage {
  readonly cpuUs: number;
  readonly rssPeakBytes: number;
  readonly rssOverTime: RssPoint[];
}

export interface Meter {
  /**
   * What each has used since the meter was opened. A name is missing where it could not be measured.
   * The first call ends the watch over memory.
   */
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
  const rss = watchRss(pids, read);
  return {
    read: () => {
      const rssOverTime = rss.stop();
      return Object.fromEntries(
        Object.entries(pids).flatMap(([name, own]) => {
          const used = own.map((pid) => difference(before.get(pid), read(pid)));
          const known = used.filter((usage) => usage !== undefined);
          if (known.length === 0 || known.length < used.length) return [];
          return [[name, { ...total(known), rssOverTime: rssOverTime[name] ?? [] }]];
        }),
      );
    },
  };
}

type Totals = Pick<Usage, 'cpuUs' | 'rssPeakBytes'>;

function difference(before: ProcessUsage | undefined, now: ProcessUsage | undefined): Totals | undefined {
  if (before === undefined || now === undefined) return undefined;
  return { cpuUs: now.cpuUs - before.cpuUs, rssPeakBytes: now.rssPeakBytes };
}

function total(usages: readonly Totals[]): Totals {
  return usages.reduce((sum, usage) => ({
    cpuUs: sum.cpuUs + usage.cpuUs,
    rssPeakBytes: sum.rssPeakBytes + usage.rssPeakBytes,
  }));
}

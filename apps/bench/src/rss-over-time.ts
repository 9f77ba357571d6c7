import type { NamedPids, ProcessUsage } from './process-usage.ts';

/** `[seconds since the start, bytes]`. */
export type RssPoint = [number, number];

export interface RssWatch {
  /** Look once more, and stop. Every later call gives the same. */
  readonly stop: () => Record<string, RssPoint[]>;
}

const everyMsFirst = 250;
/** When there are more, every second one is dropped, and the watch goes on half as often. */
const pointsMax = 60;
/** A watch that nobody stops ends by itself, after about an hour. */
const everyMsMax = 60_000;

/** Watch the resident memory of processes over time. Those of one name are added up; a look that misses one is left out. */
export function watchRss(pids: NamedPids, read: (pid: number) => ProcessUsage | undefined): RssWatch {
  const startedAtMs = performance.now();
  let looks: { readonly seconds: number; readonly bytes: ReadonlyMap<string, number> }[] = [];
  let everyMs = everyMsFirst;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const look = (): void => {
    const seconds = Math.round(performance.now() - startedAtMs) / 1_000;
    looks.push({ seconds, bytes: rssByName(pids, read) });
    if (looks.length <= pointsMax) return;
    looks = looks.filter((_, index) => index % 2 === 0);
    everyMs *= 2;
  };
  const lookAgain = (): void => {
    look();
    if (everyMs <= everyMsMax) timer = setTimeout(lookAgain, everyMs).unref();
  };
  lookAgain();
  return {
    stop: () => {
      clearTimeout(timer);
      if (!isStopped) look();
      isStopped = true;
      return Object.fromEntries(
        Object.keys(pids).flatMap((name) => {
          const points = looks.flatMap(({ seconds, bytes }): RssPoint[] => {
            const sum = bytes.get(name);
            return sum === undefined ? [] : [[seconds, sum]];
          });
          return points.length === 0 ? [] : [[name, points]];
        }),
      );
    },
  };
}

function rssByName(
  pids: NamedPids,
  read: (pid: number) => ProcessUsage | undefined,
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [name, own] of Object.entries(pids)) {
    const bytes = own.map((pid) => read(pid)?.rssBytes ?? Number.NaN);
    const sum = bytes.reduce((total, value) => total + value, 0);
    if (bytes.length > 0 && Number.isFinite(sum)) sums.set(name, sum);
  }
  return sums;
}

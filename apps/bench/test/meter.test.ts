import { expect, test } from 'vitest';
import { openMeter } from '../src/meter.ts';
import { cpuUsOfStat, type ProcessUsage, readUsage, rssOfStatus } from '../src/process-usage.ts';
import { counted, parseCommandStats } from '../src/store-counters.ts';
import { usageFigures } from '../src/usage-figures.ts';

test('CPU time is user and system time, that of ended children included, also of a command with spaces and brackets in its name', () => {
  const stat = '42 (a (odd) name) S 1 42 42 0 -1 4194560 1 2 3 4 150 25 900 800 20 0 11 0 5000 1 2';
  expect(cpuUsOfStat(stat, 100)).toBe(18_750_000);
});

test('resident memory is VmRSS, its peak VmHWM', () => {
  expect(rssOfStatus('VmPeak:\t  900 kB\nVmHWM:\t  128 kB\nVmRSS:\t  64 kB\n')).toEqual({
    rssBytes: 65_536,
    rssPeakBytes: 131_072,
  });
});

test.runIf(process.platform === 'linux')('the work of this process is seen', () => {
  const meter = openMeter({ own: [process.pid] });
  const from = process.cpuUsage();
  let used = 0;
  while (used < 200_000) {
    const { user, system } = process.cpuUsage(from);
    used = user + system;
  }
  const seen = meter.read().own;
  // The kernel counts in ticks of 10 ms; other threads of this process work on meanwhile.
  expect(seen?.cpuUs).toBeGreaterThan(150_000);
  expect(seen?.cpuUs).toBeLessThan(400_000);
  expect(seen?.rssPeakBytes).toBeGreaterThan(10_000_000);
});

test('processes of one name are added up; one that is gone makes its name unmeasured, never smaller', () => {
  const seen = new Map<number, ProcessUsage>();
  const set = (pid: number, cpuUs: number) => seen.set(pid, { cpuUs, rssBytes: 7, rssPeakBytes: 10 });
  for (const [pid, cpuUs] of [
    [1, 100],
    [2, 200],
    [3, 300],
  ] as const)
    set(pid, cpuUs);
  const meter = openMeter({ workers: [1, 2], mysql: [3], none: [] }, (pid) => seen.get(pid));
  for (const [pid, cpuUs] of [
    [1, 150],
    [2, 270],
    [3, 400],
  ] as const)
    set(pid, cpuUs);
  expect(meter.read()).toMatchObject({
    workers: { cpuUs: 120, rssPeakBytes: 20 },
    mysql: { cpuUs: 100, rssPeakBytes: 10 },
  });
  expect(usageFigures(meter.read(), 40)).toMatchObject({
    cpuUsPerOrder: { workers: 3, mysql: 2.5 },
    rssPeakBytes: { workers: 20, mysql: 10 },
    rssOverTime: {
      workers: [
        [0, 14],
        [expect.any(Number), 14],
      ],
    },
  });
  seen.delete(2);
  expect(Object.keys(meter.read())).toEqual(['mysql']);
});

test('a process that was never there is not measured', () => {
  expect(readUsage(2 ** 30)).toBeUndefined();
  expect(openMeter({ gone: [2 ** 30] }).read()).toEqual({});
});

test('statements and commands are counted from the start of the run', () => {
  const before = parseCommandStats('# Commandstats\r\ncmdstat_get:calls=5,usec=9\r\n');
  const after = parseCommandStats(
    '# Commandstats\r\ncmdstat_get:calls=5,usec=9\r\ncmdstat_evalsha:calls=3,usec=1\r\ncmdstat_config|get:calls=2,usec=4\r\n',
  );
  expect(counted(before, after)).toEqual({ evalsha: 3, 'config|get': 2 });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apps } from '../src/app-program.ts';
import { runIdle } from '../src/idle/run-idle.ts';
import { readyAtMs, runStart } from '../src/start/run-start.ts';
import { figuresOf, openTestBench, type TestBench } from './bench-services.ts';

const timeout = 120_000;

let bench: TestBench;

beforeAll(async () => {
  bench = await openTestBench();
});
afterAll(() => bench.close());

describe('without work', { timeout }, () => {
  test('what every process of Lapse uses is there, and what they ask of the stores', async () => {
    const outcome = await runIdle({ settleMs: 0, watchMs: 2_000 }, bench.options('idle', 2));
    const { idle } = figuresOf(outcome);
    expect(Object.keys(idle?.corePercent ?? {})).toEqual(expect.arrayContaining([...apps]));
    expect(idle?.sqlPerMinute.Questions).toBeGreaterThan(0);
  });

  test('a process is started so many times, and ready each time', async () => {
    const figures = figuresOf(await runStart('settler', 2, bench.options('start', 2)));
    expect(figures).toMatchObject({ orders: 2, readyMs: { count: 2 } });
    expect(figures.readyMs?.p50).toBeGreaterThan(0);
    expect(figures.cpuUsPerOrder.worker).toBeGreaterThan(0);
  });
});

test('a process is ready when its own log says so, not when somebody looks', () => {
  const line = (msg: string, time: string): string => JSON.stringify({ level: 'info', time, msg });
  const log = [
    'no JSON',
    line('waiting', '2026-01-02T03:04:05.000Z'),
    line('started', '2026-01-02T03:04:05.678Z'),
    line('later', '2026-01-02T03:04:06.000Z'),
  ];
  expect(readyAtMs(log.join('\n'))).toBe(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
  expect(() => readyAtMs(line('waiting', '2026-01-02T03:04:05.000Z'))).toThrow('"started" nowhere');
});

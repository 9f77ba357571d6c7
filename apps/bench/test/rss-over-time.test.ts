import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchRss } from '../src/rss-over-time.ts';

const minuteMs = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function usage(rssBytes: number) {
  return { cpuUs: 0, rssBytes, rssPeakBytes: rssBytes };
}

test('memory is looked at four times a second at first, and once more at the end', () => {
  let bytes = 100;
  const watch = watchRss({ worker: [1] }, () => usage(bytes));
  bytes = 200;
  vi.advanceTimersByTime(600);
  bytes = 300;
  expect(watch.stop().worker).toEqual([
    [0, 100],
    [0.25, 200],
    [0.5, 200],
    [0.6, 300],
  ]);
});

test('however long it takes there are at most 60 points, from the first to the last', () => {
  const watch = watchRss({ worker: [1] }, () => usage(1));
  vi.advanceTimersByTime(7 * minuteMs);
  const { worker = [] } = watch.stop();
  expect(worker.length).toBeLessThanOrEqual(60);
  expect(worker.length).toBeGreaterThan(20);
  expect([worker.at(0)?.[0], worker.at(-1)?.[0]]).toEqual([0, 420]);
});

test('processes of one name are added up; a look that misses one of them is left out', () => {
  let hasSecond = true;
  const watch = watchRss({ workers: [1, 2], gone: [3] }, (pid) => {
    if (pid === 3 || (pid === 2 && !hasSecond)) return undefined;
    return usage(pid * 10);
  });
  hasSecond = false;
  vi.advanceTimersByTime(250);
  hasSecond = true;
  expect(watch.stop()).toEqual({
    workers: [
      [0, 30],
      [0.25, 30],
    ],
  });
});

test('a watch that was stopped, or forgotten, looks no more', () => {
  const read = vi.fn(() => usage(1));
  const watch = watchRss({ worker: [1] }, read);
  watch.stop();
  vi.advanceTimersByTime(minuteMs);
  expect(read).toHaveBeenCalledTimes(2);
  expect(watch.stop()).toEqual(watch.stop());

  const forgotten = vi.fn(() => usage(1));
  watchRss({ worker: [1] }, forgotten);
  vi.advanceTimersByTime(600 * minuteMs);
  expect(vi.getTimerCount()).toBe(0);
});

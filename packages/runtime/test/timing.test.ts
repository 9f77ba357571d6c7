import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backOffMs, sleep, TimeBoxError, timeBox } from '../src/index.ts';

describe('backOffMs', () => {
  test('stays within its limits for any attempt, also for absurd ones', () => {
    fc.assert(
      fc.property(
        fc.double(),
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 0, max: 60_000 }),
        (attempt, minMs, more) => {
          const ms = backOffMs(attempt, { minMs, maxMs: minMs + more });
          expect(ms).toBeGreaterThanOrEqual(minMs);
          expect(ms).toBeLessThanOrEqual(minMs + more);
        },
      ),
    );
  });

  test('spreads out: replicas that failed together come back apart', () => {
    const waits = Array.from({ length: 200 }, () => backOffMs(10, { minMs: 10, maxMs: 10_000 }));
    expect(new Set(waits).size).toBeGreaterThan(100);
    expect(Math.max(...waits)).toBeGreaterThan(5_000);
    expect(Math.min(...waits)).toBeLessThan(5_000);
  });
});

describe('sleep', () => {
  test('ends early when the signal aborts, without rejecting', async () => {
    const stop = new AbortController();
    const startedAt = performance.now();
    const asleep = sleep(60_000, stop.signal);
    stop.abort();
    await asleep;
    await sleep(60_000, stop.signal);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test('a delay longer than a timer can take does not end at once', async () => {
    const stop = new AbortController();
    const first = await Promise.race([
      sleep(1e12, stop.signal).then(() => 'slept'),
      sleep(20).then(() => 'waited'),
    ]);
    stop.abort();
    expect(first).toBe('waited');
  });
});

describe('timeBox', () => {
  test('gives the result, the failure, or a TimeBoxError that names the work', async () => {
    expect(await timeBox(Promise.resolve(1), 1_000, 'work')).toBe(1);
    await expect(timeBox(Promise.reject(new Error('no')), 1_000, 'work')).rejects.toThrow('no');
    await expect(timeBox(new Promise(() => {}), 5, 'asking the broker')).rejects.toThrow(TimeBoxError);
  });

  test('a failure after the time is up disturbs nobody', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    const late = sleep(10).then(() => Promise.reject(new Error('late')));
    await expect(timeBox(late, 1, 'work')).rejects.toThrow(TimeBoxError);
    await late.catch(() => {});
    await sleep(5);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});

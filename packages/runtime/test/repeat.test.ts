import { describe, expect, test, vi } from 'vitest';
import { createLogger, repeat } from '../src/index.ts';

const quiet = createLogger('test', 'silent');
const hourMs = 3_600_000;

describe('repeat', () => {
  test('runs at once, and again and again, and never overlaps even when a run takes longer than its period', async () => {
    let running = 0;
    let runs = 0;
    const loop = repeat({
      name: 'slow',
      everyMs: 1,
      log: quiet,
      task: async () => {
        running += 1;
        expect(running).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running -= 1;
        runs += 1;
      },
    });
    await vi.waitUntil(() => runs >= 5);
    await loop.close();
    const atClose = runs;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(runs).toBe(atClose);
  });

  test('wake runs it now, and during a run once more right after', async () => {
    let runs = 0;
    let finish = () => {};
    const loop = repeat({
      name: 'woken',
      everyMs: hourMs,
      log: quiet,
      task: () => {
        runs += 1;
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    });
    await vi.waitUntil(() => runs === 1);
    loop.wake();
    loop.wake();
    finish();
    await vi.waitUntil(() => runs === 2);
    finish();
    // Two wakes during one run are one more run, not two.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(runs).toBe(2);
    loop.wake();
    await vi.waitUntil(() => runs === 3);
    finish();
    await loop.close();
  });

  test('close tells the task to stop, and waits for it', async () => {
    let ended = false;
    const loop = repeat({
      name: 'closing',
      everyMs: hourMs,
      log: quiet,
      task: async (signal) => {
        await vi.waitUntil(() => signal.aborted);
        await new Promise((resolve) => setTimeout(resolve, 10));
        ended = true;
      },
    });
    await loop.close();
    expect(ended).toBe(true);
    await loop.close();
  });

  test('takes no more work from the moment the process begins to stop, while other parts are still closing', async () => {
    let runs = 0;
    let told = false;
    const loop = repeat({
      name: 'stopping',
      everyMs: 1,
      log: quiet,
      task: async (signal) => {
        runs += 1;
        if (runs < 3) return;
        await vi.waitUntil(() => signal.aborted);
        told = true;
      },
    });
    await vi.waitUntil(() => runs === 3);
    loop.stopping();
    // Nobody has closed it yet.
    await vi.waitUntil(() => told);
    loop.wake();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(runs).toBe(3);
    await loop.close();
  });

  test('paused it ends its run and begins no other, however often it is woken; resumed it runs at once', async () => {
    let runs = 0;
    let finish = () => {};
    const loop = repeat({
      name: 'paused',
      everyMs: 1,
      log: quiet,
      task: () => {
        runs += 1;
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    });
    await vi.waitUntil(() => runs === 1);
    loop.pause();
    loop.pause();
    expect(loop.isDrained()).toBe(false);
    finish();
    await vi.waitUntil(() => loop.isDrained());
    loop.wake();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(runs).toBe(1);
    loop.resume();
    expect(loop.isDrained()).toBe(false);
    await vi.waitUntil(() => runs === 2);
    finish();
    loop.pause();
    await loop.close();
  });

  test('a failing task goes on, and the same failure is logged once, a new one again, and the recovery', async () => {
    const lines: { level: string; msg: string; err?: { message: string } }[] = [];
    const log = createLogger('test', 'info', { write: (line) => lines.push(JSON.parse(line)) });
    const faults = ['away', 'away', 'away', 'other', undefined, undefined, 'away'];
    let runs = 0;
    const loop = repeat({
      name: 'failing',
      everyMs: 1,
      log,
      task: async () => {
        const fault = faults[runs];
        runs += 1;
        if (fault) throw new Error(fault);
      },
    });
    await vi.waitUntil(() => runs > faults.length);
    await loop.close();
    expect(lines.map(({ err, msg }) => err?.message ?? msg).slice(0, 4)).toEqual([
      'away',
      'other',
      'task works again',
      'away',
    ]);
  });
});

import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createPause } from '../src/create-pause.ts';

/** Something that can be paused, whose steps end when the test says so. */
function openSteps() {
  const steps: string[] = [];
  let finish: (() => void) | undefined;
  const step = (name: string, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      steps.push(name);
      finish = resolve;
      signal?.addEventListener('abort', () => resolve());
    });
  const pause = createPause({
    drain: (signal) => step('drain', signal),
    giveBack: () => step('give back'),
    goOn: () => void steps.push('go on'),
  });
  const end = async (): Promise<void> => {
    finish?.();
    await new Promise(setImmediate);
  };
  return { pause, steps, end };
}

describe('a pause', () => {
  test('drains, gives back, and is drained then; a resume goes on', async () => {
    const { pause, steps, end } = openSteps();
    pause.pause();
    pause.pause();
    await end();
    expect(pause.isDrained()).toBe(false);
    await end();
    expect([steps, pause.isDrained()]).toEqual([['drain', 'give back'], true]);
    pause.resume();
    expect(pause.isDrained()).toBe(false);
    expect(steps).toEqual(['drain', 'give back', 'go on']);
  });

  test('resumed while it drains goes on at once, and gives nothing back', async () => {
    const { pause, steps } = openSteps();
    pause.pause();
    pause.resume();
    await vi.waitUntil(() => steps.includes('go on'));
    expect(steps).toEqual(['drain', 'go on']);
  });

  test('wanted again right after a resume drains anew, and does not take the cut wait for a drain', async () => {
    const { pause, steps, end } = openSteps();
    pause.pause();
    pause.resume();
    pause.pause();
    await vi.waitUntil(() => steps.length === 3);
    expect(steps).toEqual(['drain', 'go on', 'drain']);
    await end();
    await end();
    expect(pause.isDrained()).toBe(true);
  });

  test('that ends goes on from any step, runs none after it, and hears nothing more', async () => {
    const { pause, steps, end } = openSteps();
    pause.pause();
    await end();
    const ended = pause.end();
    await end();
    await ended;
    pause.pause();
    await new Promise(setImmediate);
    expect(steps).toEqual(['drain', 'give back', 'go on']);
  });

  test('follows what was wanted last, whatever came before and whenever the steps end', async () => {
    const moves = fc.array(fc.constantFrom('pause', 'resume', 'end of step', 'turn'), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(moves, fc.boolean(), async (list, last) => {
        const { pause, steps, end } = openSteps();
        for (const move of [...list, last ? 'pause' : 'resume']) {
          if (move === 'pause') pause.pause();
          if (move === 'resume') pause.resume();
          if (move === 'end of step') await end();
          if (move === 'turn') await new Promise(setImmediate);
        }
        for (let turn = 0; turn < 8; turn += 1) await end();
        expect(pause.isDrained()).toBe(last);
        expect(steps.at(-1) ?? 'go on').toBe(last ? 'give back' : 'go on');
      }),
    );
  });
});

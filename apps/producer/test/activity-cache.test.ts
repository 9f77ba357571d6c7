import type { Activity } from '@lapse/order-repository';
import { describe, expect, it } from 'vitest';
import { createActivityCache } from '../src/activity-cache.ts';

describe('the cache of activities', () => {
  it('lets those who wait for a read have its answer when the activity is forgotten meanwhile', async () => {
    let answer = (_: Activity): void => {};
    const cache = createActivityCache({
      readActivity: () =>
        new Promise<Activity>((resolve) => {
          answer = resolve;
        }),
    });
    const waiting = cache.read(7);
    cache.forget(7);
    answer({ id: 7 } as Activity);
    expect(await waiting).toEqual({ id: 7 });
  });

  it('asks again once an activity was forgotten', async () => {
    let reads = 0;
    const cache = createActivityCache({
      readActivity: async (id) => {
        reads += 1;
        return { id, generation: reads } as Activity;
      },
    });
    await cache.read(7);
    expect((await cache.read(7))?.generation).toBe(1);
    cache.forget(7);
    expect((await cache.read(7))?.generation).toBe(2);
  });
});

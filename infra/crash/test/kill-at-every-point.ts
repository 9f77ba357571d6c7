import { afterAll, beforeAll, test } from 'vitest';
import { type CrashWorld, openCrashWorld } from '../src/crash-world.ts';
import { crashPointsOf, type ProcessName } from '../src/effects.ts';
import { killAt } from '../src/kill-at.ts';
import { expectNoticesSent } from '../src/small-sale.ts';

/** Every process has a file for each: they run side by side, every one with a shop of its own. */
export const parts = 3;

/**
 * The tests of one part of the points of a process: every third, from the `part`-th on. Most of their time they wait for
 * deadlines. A whole `npm test` runs one part of each process, the next one with the next commit; `npm run crash` runs all.
 */
export function killAtEveryPoint(name: ProcessName, part: 1 | 2 | 3): void {
  const points = crashPointsOf(name).filter((_, index) => index % parts === part - 1);
  let world: CrashWorld;
  beforeAll(async () => {
    world = await openCrashWorld();
  });
  afterAll(() => world.close());

  test.each(points)(
    `${name} killed at %s: nothing lost, nothing twice`,
    { timeout: 150_000 },
    async (point) => {
      await killAt(world, [{ name, point }]);
    },
  );

  test('every notice that a dead process had in hand goes out', async () => {
    await expectNoticesSent(world);
  }, 120_000);
}

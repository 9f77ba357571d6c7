import { afterAll, beforeAll, test } from 'vitest';
import { type CrashWorld, openCrashWorld } from '../src/crash-world.ts';
import { crashPointsOf, type ProcessName } from '../src/effects.ts';
import { killAt } from '../src/kill-at.ts';
import { expectNoticesSent } from '../src/small-sale.ts';

/** Every `of`-th point from the `part`-th on. */
export interface Share {
  readonly part: number;
  readonly of: number;
}

/**
 * The tests of one process, or of a share of its points: a file each, so that they run side by side, every one
 * with a shop of its own. Most of their time they wait for deadlines.
 */
export function killAtEveryPoint(name: ProcessName, { part, of }: Share = { part: 1, of: 1 }): void {
  const points = crashPointsOf(name).filter((_, index) => index % of === part - 1);
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

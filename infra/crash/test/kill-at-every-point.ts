import { afterAll, beforeAll, test } from 'vitest';
import { type CrashWorld, openCrashWorld } from '../src/crash-world.ts';
import { crashPointsOf, type ProcessName } from '../src/effects.ts';
import { killAt } from '../src/kill-at.ts';
import { expectNoticesSent } from '../src/small-sale.ts';

/** The tests of one process: a file each, so that they run side by side, every one with a shop of its own. */
export function killAtEveryPoint(name: ProcessName): void {
  let world: CrashWorld;
  beforeAll(async () => {
    world = await openCrashWorld();
  });
  afterAll(() => world.close());

  test.each(crashPointsOf(name))(
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

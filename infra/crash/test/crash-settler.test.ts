import { afterAll, beforeAll, test } from 'vitest';
import { type CrashWorld, openCrashWorld } from '../src/crash-world.ts';
import { crashPointsOf } from '../src/effects.ts';
import { killAt } from '../src/kill-at.ts';
import { expectNoticesSent } from '../src/small-sale.ts';

let world: CrashWorld;
beforeAll(async () => {
  world = await openCrashWorld();
});
afterAll(() => world.close());

test.each(crashPointsOf('settler'))(
  'settler killed at %s: nothing lost, nothing twice',
  { timeout: 150_000 },
  async (point) => {
    await killAt(world, [{ name: 'settler', point }]);
  },
);

test('every notice that a dead process had in hand goes out', async () => {
  await expectNoticesSent(world);
}, 120_000);

import type { CrashWorld } from './crash-world.ts';
import type { ProcessName } from './effects.ts';
import { expectRest, runSmallSale } from './small-sale.ts';

/**
 * Run a sale in which the process dies at the point, is started again, and let the oracle judge at rest.
 * @throws when the point is never passed, or an invariant does not hold.
 */
export async function killAt(
  world: CrashWorld,
  victims: readonly { readonly name: ProcessName; readonly point: string }[],
): Promise<void> {
  for (const { name, point } of victims) await world.arm(name, [point]);
  const deaths = victims.map(({ name }) => world.deathOf(name));
  await Promise.all([
    runSmallSale(world, { moved: victims.some(({ point }) => point.includes('rearm')) }),
    ...deaths,
  ]);
  await expectRest(world);
}

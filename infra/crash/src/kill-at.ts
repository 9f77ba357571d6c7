import type { CrashWorld } from './crash-world.ts';
import type { ProcessName } from './effects.ts';
import { expectRest, runSmallSale } from './small-sale.ts';

/**
 * Sales until the process has passed the point. A worker that was killed leaves polls at the broker, which
 * swallow what comes for some seconds: the messages of a short sale may all go there.
 */
const salesMax = 4;

/**
 * Run a sale in which the process dies at the point, is started again, and let the oracle judge at rest.
 * @throws when the point is never passed, or an invariant does not hold.
 */
export async function killAt(
  world: CrashWorld,
  victims: readonly { readonly name: ProcessName; readonly point: string }[],
): Promise<void> {
  for (const { name, point } of victims) await world.arm(name, point);
  let allDied = false;
  const deaths = Promise.all(victims.map(({ name }) => world.deathOf(name))).then(() => {
    allDied = true;
  });
  const sell = async (): Promise<void> => {
    for (let sales = 0; !allDied && sales < salesMax; sales += 1) {
      await runSmallSale(world, { moved: victims.some(sendsOnlyWhenMoved) });
      await expectRest(world);
    }
  };
  // Both, whatever happens: a process that is still to die would die in the next sale.
  const ends = await Promise.allSettled([sell(), deaths]);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  await expectRest(world);
}

/** A worker sends when it arms an order again; the closing message of a reminder may come too late in a short sale. */
function sendsOnlyWhenMoved({
  name,
  point,
}: {
  readonly name: ProcessName;
  readonly point: string;
}): boolean {
  return (name === 'reminder' || name === 'closer') && /rearm|sender|markOutboxSent/.test(point);
}

import { sleep } from '@lapse/runtime';
import type { Printer } from '@lapse/stack';
import { type Judgement, judge } from './judgement.ts';
import type { Ledger } from './ledger.ts';
import { readProvider } from './read-provider.ts';
import type { World } from './world.ts';

/** From the end of the faults: every process up again, every order final, every repair done. */
const restWithinMs = 120_000;
const lookEveryMs = 2_000;

/** Ask until nothing is wrong and the last payment is accepted, or time is up; the last judgement counts. */
export async function awaitRest(
  world: World,
  ledger: Ledger,
  load: Promise<void>,
  print: Printer,
  signal: AbortSignal,
): Promise<Judgement> {
  const endsAt = performance.now() + restWithinMs;
  let loadDone = false;
  load.then(
    () => {
      loadDone = true;
    },
    () => {},
  );
  return await print.step('coming to rest', 'at rest', async () => {
    for (;;) {
      const allUp = [...world.apps.map(({ kept }) => kept), ...Object.values(world.services.kept)].every(
        ({ service }) => service.state === 'running',
      );
      const late = performance.now() >= endsAt || signal.aborted;
      const judgement = allUp || late ? await judgeNow(world, ledger).catch(() => undefined) : undefined;
      if (judgement !== undefined && (late || (judgement.ok && loadDone))) return judgement;
      if (late) throw new Error('LAPSE_CHAOS_NO_REST: the stores could not be read after the last fault.');
      await sleep(lookEveryMs, signal);
    }
  });
}

async function judgeNow({ services, providerUrl, secrets }: World, ledger: Ledger): Promise<Judgement> {
  return await judge(services, ledger, await readProvider(providerUrl, secrets.simulatorKey));
}

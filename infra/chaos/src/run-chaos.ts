import { setMaxListeners } from 'node:events';
import { sleep } from '@lapse/runtime';
import type { CommandTools } from '@lapse/stack';
import { createApiClient } from './api-client.ts';
import type { ChaosArgs } from './args.ts';
import { awaitRest } from './await-rest.ts';
import { chaosWorld } from './chaos-world.ts';
import { planFaults } from './fault-plan.ts';
import { findFaketime } from './find-faketime.ts';
import { closingLine, type Judgement, judge } from './judgement.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { runLoad } from './load.ts';
import { linkFaults } from './network-link.ts';
import { createRandom } from './random.ts';
import { readProvider } from './read-provider.ts';
import { explainFailure, report } from './report.ts';
import { runFaults } from './run-faults.ts';
import { sabotages } from './sabotage.ts';
import { watchInvariants } from './watch-invariants.ts';
import { openWorld, type World } from './world.ts';

export interface ChaosResult {
  /** The closing line. */
  readonly line: string;
  readonly ok: boolean;
  /** Whether the closing line showed each sabotage; empty when none was asked for. */
  readonly shown: Readonly<Record<string, boolean>>;
}

export interface ChaosOptions extends ChaosArgs, CommandTools {
  /** At the end, break things by hand and see whether it shows; for the test of the harness. */
  readonly sabotage?: boolean;
}

/** One run: load and faults side by side, then rest, then the judgement by oracle and ledger. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const world = await openWorld(chaosWorld(options.seed), options);
  try {
    return await play(world, options);
  } finally {
    await options.print.step('stopping', 'stopped', world.close);
  }
}

async function play(world: World, options: ChaosOptions): Promise<ChaosResult> {
  const { minutes, seed, print, signal } = options;
  const random = createRandom(seed);
  const faketime = findFaketime();
  if (faketime === undefined) print.line('skipped: clocks off (libfaketime is not installed)');
  const apps = world.apps.map(({ name }) => name);
  const links = world.apps.flatMap((app) =>
    Object.keys(app.links).map((service) => `${app.name} to ${service}`),
  );
  const plan = planFaults({ random, minutes, apps, links, linkFaults, skew: faketime !== undefined });
  const ledger = createLedger();
  const producers = world.apps.filter(({ name }) => name.startsWith('producer-')).map(({ apiUrl }) => apiUrl);
  const api = createApiClient({ apiUrls: producers, ...world }, ledger);
  const close = new AbortController();
  const closing = AbortSignal.any([close.signal, signal]);
  // Every buyer that waits listens.
  setMaxListeners(0, closing);
  const giveUp = new AbortController();
  const watch = watchInvariants(world.services);
  const load = runLoad({
    api,
    ledger,
    random: createRandom(seed + 1),
    closing,
    giveUp: giveUp.signal,
  });
  load.catch(() => close.abort());
  const [log] = await Promise.all([
    runFaults(world, plan, faketime, print, closing),
    sleep(minutes * 60_000, closing),
  ]);
  close.abort();
  const judgement = await awaitRest(world, ledger, load, print, signal);
  giveUp.abort();
  await load;
  await watch.stop();
  const line = closingLine(log.made, judgement, watch.broken, seed);
  const ok = judgement.ok && watch.broken.size === 0 && ledger.unexpected.length === 0 && !signal.aborted;
  report(print, ledger, watch);
  if (!ok) explainFailure(print, world, judgement, log, watch.broken, ledger);
  const shown = ok && options.sabotage === true ? await showSabotage(world, ledger, judgement) : {};
  return { line, ok, shown };
}

/** Break one thing after the other, with nobody left to heal it; each must add to its field of the closing line. */
async function showSabotage(
  world: World,
  ledger: Ledger,
  clean: Judgement,
): Promise<Record<string, boolean>> {
  const provider = await readProvider(world.providerUrl, world.secrets.simulatorKey);
  await world.stopApps();
  const shown: Record<string, boolean> = {};
  let before = clean.faults;
  for (const { name, field, apply } of sabotages) {
    await apply(world.services);
    const { faults } = await judge(world.services, ledger, provider);
    shown[name] = faults[field].length > before[field].length;
    before = faults;
  }
  return shown;
}

import { setMaxListeners } from 'node:events';
import { sleep } from '@lapse/runtime';
import type { Printer } from '@lapse/stack';
import { describeVerdict } from '@lapse/testing';
import { createApiClient } from './api-client.ts';
import type { ChaosArgs } from './args.ts';
import { planFaults } from './fault-plan.ts';
import { findFaketime } from './find-faketime.ts';
import { closingLine, type Judgement, judge } from './judgement.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { runLoad } from './load.ts';
import { linkFaults } from './network-link.ts';
import { createRandom } from './random.ts';
import { type FaultLog, runFaults } from './run-faults.ts';
import { watchInvariants } from './watch-invariants.ts';
import { openWorld, type World } from './world.ts';

export interface ChaosResult {
  /** The closing line. */
  readonly line: string;
  readonly ok: boolean;
}

/** From the end of the faults: every process up again, every order final, every repair done. */
const restWithinMs = 120_000;
const lookEveryMs = 2_000;

/** One run: load and faults side by side, then rest, then the judgement by oracle and ledger. */
export async function runChaos(
  args: ChaosArgs,
  print: Printer,
  signal: AbortSignal,
  onWorld: (world: World) => void = () => {},
): Promise<ChaosResult> {
  const world = await openWorld(print, args.keep, signal);
  onWorld(world);
  try {
    return await play(world, args, print, signal);
  } finally {
    await print.step('stopping', 'stopped', world.close);
  }
}

async function play(
  world: World,
  { minutes, seed }: ChaosArgs,
  print: Printer,
  signal: AbortSignal,
): Promise<ChaosResult> {
  const random = createRandom(seed);
  const faketime = findFaketime();
  if (faketime === undefined) print.line('skipped: clocks off (libfaketime is not installed)');
  const apps = world.apps.map(({ name }) => name);
  const plan = planFaults({ random, minutes, apps, linkFaults, skew: faketime !== undefined });
  const ledger = createLedger();
  const producers = world.apps.filter(({ name }) => name.startsWith('producer-')).map(({ apiUrl }) => apiUrl);
  const api = createApiClient(producers, world.secrets, ledger);
  const closing = new AbortController();
  // Every buyer that waits listens.
  setMaxListeners(0, closing.signal);
  const giveUp = new AbortController();
  signal.addEventListener('abort', () => closing.abort(), { once: true });
  const watch = watchInvariants(world.services);
  const load = runLoad({
    api,
    ledger,
    random: createRandom(seed + 1),
    closing: closing.signal,
    giveUp: giveUp.signal,
  });
  load.catch(() => closing.abort());
  const [log] = await Promise.all([
    runFaults(world, plan, faketime, print, closing.signal),
    sleep(minutes * 60_000, closing.signal),
  ]);
  closing.abort();
  const judgement = await awaitRest(world, ledger, load, print, signal);
  giveUp.abort();
  await load;
  await watch.stop();
  const line = closingLine(log.made, judgement, new Set(watch.broken.keys()), seed);
  const ok = judgement.ok && watch.broken.size === 0 && ledger.unexpected.length === 0 && !signal.aborted;
  report(print, ledger, watch);
  if (!ok) explainFailure(print, world, judgement, log, watch.broken, ledger);
  return { line, ok };
}

/** Ask until nothing is wrong and the last payment is accepted, or time is up; the last judgement counts. */
async function awaitRest(
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
      const judgement =
        allUp || late ? await judge(world.services, ledger).catch(() => undefined) : undefined;
      if (judgement !== undefined && (late || (judgement.ok && loadDone))) return judgement;
      if (late) throw new Error('LAPSE_CHAOS_NO_REST: the stores could not be read after the last fault.');
      await sleep(lookEveryMs, signal);
    }
  });
}

function report(
  print: Printer,
  { statuses, purchases, payments }: Ledger,
  { looks }: { looks: number },
): void {
  const answers = [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status || 'no answer'}: ${count}`);
  print.line(
    `${purchases.length} wishes to buy, ${payments.length} payments; answers ${answers.join(', ')}; ${looks} looks on the way`,
  );
}

const linesMax = 15;

function explainFailure(
  print: Printer,
  world: World,
  { verdict, faults }: Judgement,
  log: FaultLog,
  broken: ReadonlyMap<string, string>,
  ledger: Ledger,
): void {
  print.line('faults, by their time in the run:');
  for (const line of log.lines) print.line(`  ${line}`);
  const deaths = [...world.apps.map(({ kept }) => kept), ...Object.values(world.services.kept)].flatMap(
    ({ ownDeaths }) => ownDeaths,
  );
  for (const death of deaths) print.line(`  ${death}`);
  print.line(describeVerdict(verdict));
  for (const [id, seen] of broken) print.line(`on the way, ${id}: ${seen}`);
  for (const [name, list] of Object.entries({ ...faults, unexpected: ledger.unexpected })) {
    for (const line of list.slice(0, linesMax)) print.line(`${name}: ${line}`);
    if (list.length > linesMax) print.line(`${name}: and ${list.length - linesMax} more`);
  }
}

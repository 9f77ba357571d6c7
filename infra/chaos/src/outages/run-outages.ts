import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { CommandResult, CommandTools } from '@lapse/stack';
import { createApiClient } from '../api-client.ts';
import { awaitRest } from '../await-rest.ts';
import type { Judgement } from '../judgement.ts';
import { createLedger, type Ledger } from '../ledger.ts';
import { watchInvariants } from '../watch-invariants.ts';
import { openWorld, type World } from '../world.ts';
import { awaitSteady, measureOutage, type OutageResult } from './measure-outage.ts';
import { nameOf } from './outage-case.ts';
import { outageLine, outageTable } from './outage-table.ts';
import { outageSale, outageWorld } from './outage-world.ts';
import type { OutageArgs } from './parse-outage-args.ts';
import { type SteadyLoad, startSteadyLoad } from './steady-load.ts';

/** Enough that each figure is good to a twentieth of a second, and little for two cores. */
const ordersPerSecond = 20;
/** Of each kind of fault; the closing line has the whole number. */
const linesMax = 10;

/**
 * A steady load through every process while one service after the other goes and comes back; at the end everything
 * comes to rest, and oracle and ledger judge the whole.
 */
export async function runOutages(options: OutageArgs & CommandTools): Promise<CommandResult> {
  const world = await openWorld(outageWorld, options);
  try {
    return await play(world, options);
  } finally {
    await options.print.step('stopping', 'stopped', world.close);
  }
}

async function play(world: World, options: OutageArgs & CommandTools): Promise<CommandResult> {
  const { cases, json, print, signal } = options;
  const ledger = createLedger();
  const apiUrls = world.apps.filter(({ name }) => name.startsWith('producer-')).map(({ apiUrl }) => apiUrl);
  const api = createApiClient({ apiUrls, ...world }, ledger);
  const activity = await api.createActivity(outageSale);
  const closing = new AbortController();
  const load = startSteadyLoad({
    ...{ api, ledger, activityId: activity.id, perSecond: ordersPerSecond },
    closing: AbortSignal.any([closing.signal, signal]),
  });
  const watch = watchInvariants(world.services);
  const results = await measureAll(world, load, options);
  closing.abort();
  const judgement = await awaitRest(world, ledger, load.done, print, signal);
  await load.done;
  await watch.stop();
  const line = outageLine(results, judgement.faults);
  if (json !== null) writeFileSync(json, `${JSON.stringify(documentOf(results, line), undefined, 2)}\n`);
  print.line(`\n${outageTable(results)}\n`);
  const faults = [...faultsOf(world, judgement, ledger), ...[...watch.broken].map((each) => each.join(': '))];
  for (const fault of faults) print.line(fault);
  const isWell = results.every(
    ({ isOver, readyMs, createdMs }) => isOver && readyMs !== null && createdMs !== null,
  );
  return { line, ok: judgement.ok && isWell && faults.length === 0 && results.length === cases.length };
}

async function measureAll(
  world: World,
  load: SteadyLoad,
  { cases, print, signal }: OutageArgs & CommandTools,
): Promise<OutageResult[]> {
  const results: OutageResult[] = [];
  await print.step('orders', 'orders close on time', () => awaitSteady(world, signal));
  for (const each of cases) {
    if (signal.aborted) break;
    if (results.length > 0) await awaitSteady(world, signal);
    const name = nameOf(each);
    results.push(await print.step(name, `${name}: over`, () => measureOutage(world, load, each, signal)));
  }
  return results;
}

/** What a person reads when the run was not well. */
function faultsOf({ apps, services }: World, { verdict, faults }: Judgement, ledger: Ledger): string[] {
  const deaths = [...apps.map(({ kept }) => kept), ...Object.values(services.kept)].flatMap(
    ({ ownDeaths }) => ownDeaths,
  );
  const lists = Object.entries({ ...faults, unexpected: ledger.unexpected, died: deaths });
  return [
    ...verdict.failed.map(({ id, detail }) => `${id}: ${detail}`),
    ...lists.flatMap(([name, list]) => list.slice(0, linesMax).map((line) => `${name}: ${line}`)),
  ];
}

function documentOf(results: readonly OutageResult[], line: string) {
  const [cpu] = cpus();
  const machine = {
    cpus: cpus().length,
    model: cpu?.model,
    node: process.version,
    platform: process.platform,
  };
  return { machine, ordersPerSecond, line, cases: results };
}

import { sleep } from '@lapse/runtime';
import type { CommandResult, CommandTools, Printer } from '@lapse/stack';
import { describeVerdict } from '@lapse/testing';
import { type ApiClient, createApiClient } from '../api-client.ts';
import { awaitRest } from '../await-rest.ts';
import { createLedger, type Ledger } from '../ledger.ts';
import { awaitSteady } from '../outages/measure-outage.ts';
import { outageSale } from '../outages/outage-world.ts';
import { startSteadyLoad } from '../outages/steady-load.ts';
import { openWorld, type World } from '../world.ts';
import type { Drill } from './drill.ts';
import { drillWorld } from './drill-world.ts';
import { loseBroker } from './lose-broker.ts';
import { loseRedis } from './lose-redis.ts';
import type { DrillArgs, DrillName } from './parse-drill-args.ts';
import { restoreFromBackup } from './restore-mysql.ts';
import { runLapse } from './run-lapse.ts';

const drills: Readonly<Record<DrillName, Drill>> = {
  redis: loseRedis,
  broker: loseBroker,
  mysql: restoreFromBackup,
};
const ordersPerSecond = 10;
/** Of ten buyers three pay, some seconds after their order. */
const payers = { of: 10, first: 3, withinSeconds: 7 } as const;
const linesMax = 10;

/** Each disaster under a sale that goes on; then all comes to rest, and oracle and ledger judge. */
export async function runDrills(options: DrillArgs & CommandTools): Promise<CommandResult> {
  const { names, print, signal } = options;
  const world = await openWorld(drillWorld, options);
  const ends: string[] = [];
  try {
    for (const name of names) {
      if (signal.aborted) break;
      ends.push(`${name}=${(await playDrill(world, name, options)) ? 'ok' : 'failed'}`);
    }
  } finally {
    await print.step('stopping', 'stopped', world.close);
  }
  return {
    line: `drills: ${ends.join(' ')}`,
    ok: ends.length === names.length && !ends.join().includes('failed'),
  };
}

/** @returns whether everything was right at rest. */
async function playDrill(world: World, name: DrillName, options: DrillArgs & CommandTools): Promise<boolean> {
  const { print, signal, backupAgeSeconds } = options;
  const ledger = createLedger();
  const apiUrls = world.apps.filter((app) => app.name.startsWith('producer-')).map(({ apiUrl }) => apiUrl);
  const api = createApiClient({ apiUrls, ...world }, ledger);
  const { id: activityId } = await api.createActivity({ ...outageSale, name });
  const closing = new AbortController();
  const load = startSteadyLoad({
    ...{ api, ledger, activityId, perSecond: ordersPerSecond },
    closing: AbortSignal.any([closing.signal, signal]),
    afterwards: (order, token, number) => payNow(api, order.id, token, number),
  });
  try {
    print.line(`\n${name}`);
    await awaitSteady(world, signal);
    const startedAt = performance.now();
    const say = (line: string): void => print.line(`${seconds(startedAt)}  ${line}`);
    const lapse = (...args: string[]): Promise<number> => showLapse(print, world, args);
    await drills[name]({ world, api, ledger, load, activityId, backupAgeSeconds, signal, say, lapse });
    await awaitSteady(world, signal);
    say('orders close on time');
  } finally {
    closing.abort();
  }
  return await judgeDrill(world, ledger, load.done, print, signal);
}

async function payNow(api: ApiClient, orderId: string, token: string, number: number): Promise<void> {
  if (number % payers.of >= payers.first) return;
  await sleep((number % payers.withinSeconds) * 1_000);
  const answer = await api.payOrder(token, orderId);
  if (answer.kind === 'ok') await api.payAtProvider((answer.body as { payUrl: string }).payUrl);
}

async function showLapse(print: Printer, { env }: World, args: readonly string[]): Promise<number> {
  const { code, output } = await runLapse(args, env);
  print.line(`    $ lapse ${args.map((arg) => (arg.includes(' ') ? JSON.stringify(arg) : arg)).join(' ')}`);
  for (const line of output.split('\n')) print.line(`    ${line}`);
  return code;
}

async function judgeDrill(
  world: World,
  ledger: Ledger,
  load: Promise<void>,
  print: Printer,
  signal: AbortSignal,
): Promise<boolean> {
  const { ok, verdict, faults } = await awaitRest(world, ledger, load, print, signal);
  print.line(describeVerdict(verdict));
  for (const [kind, list] of Object.entries({ ...faults, unexpected: ledger.unexpected })) {
    for (const line of list.slice(0, linesMax)) print.line(`${kind}: ${line}`);
  }
  return ok && ledger.unexpected.length === 0;
}

function seconds(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s`;
}

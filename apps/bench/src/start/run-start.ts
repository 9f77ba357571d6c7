import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '@lapse/local-services';
import { type App, appPrograms } from '../app-program.ts';
import { createLatencies } from '../latencies.ts';
import { openStores, type RunStores } from '../open-stores.ts';
import { prepareTopics } from '../prepare-topics.ts';
import { readUsage } from '../process-usage.ts';
import type { Outcome } from '../result.ts';
import { describeSale, prepareSale, type Sale } from '../sale.ts';
import type { RunOptions } from '../scenario.ts';
import { startPrograms } from '../start-programs.ts';

interface Start {
  readonly readyMs: number;
  /** Undefined where it could not be read. */
  readonly cpuUs: number | undefined;
  readonly rssPeakBytes: number | undefined;
}

/** Start one process of Lapse so many times, one after the other, on stores that are up. */
export async function runStart(app: App, starts: number, options: RunOptions): Promise<Outcome> {
  const stores = await openStores(options.services);
  try {
    return await measure(app, starts, stores, options);
  } catch (error) {
    return { kind: 'no-figure', reasons: [(error as Error).message] };
  } finally {
    await stores.close();
  }
}

async function measure(
  app: App,
  starts: number,
  stores: RunStores,
  { services, dir }: RunOptions,
): Promise<Outcome> {
  const sale = describeSale(stores, services, await prepareSale(stores, { places: 1, sold: 0 }));
  await prepareTopics(sale);
  const all: Start[] = [];
  for (let count = 1; count <= starts; count += 1)
    all.push(await startOnce(app, sale, join(dir, `${count}`)));
  const readyMs = createLatencies();
  for (const each of all) readyMs.record(each.readyMs);
  const seconds = sum(all.map((each) => each.readyMs)) / 1_000;
  const cpuUs = all.flatMap((each) => each.cpuUs ?? []);
  const rss = all.flatMap((each) => each.rssPeakBytes ?? []);
  return {
    kind: 'measured',
    figures: {
      orders: starts,
      seconds,
      perSecond: starts / seconds,
      cpuUsPerOrder: cpuUs.length < starts ? {} : { worker: sum(cpuUs) / starts },
      armCpuUsPerOrder: {},
      rssPeakBytes: rss.length < starts ? {} : { worker: Math.max(...rss) },
      rssOverTime: {},
      sql: {},
      redis: {},
      latenessMs: null,
      early: 0,
      responseMs: null,
      readyMs: readyMs.read(),
    },
  };
}

/** From before it is spawned to its own line that says it is ready: nothing depends on when somebody looks. */
async function startOnce(app: App, sale: Sale, dir: string): Promise<Start> {
  const http = { port: await freePort(), jwtSecret: randomBytes(32).toString('base64url') };
  const spawnedAtMs = Date.now();
  const programs = await startPrograms(appPrograms([app], sale, http), dir);
  try {
    const [pid = 0] = programs.pids[app] ?? [];
    const used = readUsage(pid);
    return {
      readyMs: readyAtMs(programs.output(app)) - spawnedAtMs,
      cpuUs: used?.cpuUs,
      rssPeakBytes: used?.rssPeakBytes,
    };
  } finally {
    await programs.kill();
  }
}

/** @throws {Error} when no line of the log says it. */
export function readyAtMs(log: string): number {
  const line = log.split('\n').find((each) => each.includes('"msg":"started"'));
  const time = /"time":"([^"]+)"/.exec(line ?? '')?.[1];
  if (time === undefined) throw new Error(`the log says "started" nowhere:\n${log}`);
  return Date.parse(time);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

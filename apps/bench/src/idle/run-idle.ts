import { randomBytes } from 'node:crypto';
import { freePort } from '@lapse/local-services';
import { sleep } from '@lapse/runtime';
import { appPrograms, apps } from '../app-program.ts';
import { openMeter, type Usage } from '../meter.ts';
import { openStores, type RunStores } from '../open-stores.ts';
import { prepareTopics } from '../prepare-topics.ts';
import type { Figures, Outcome } from '../result.ts';
import { describeSale, prepareSale } from '../sale.ts';
import type { RunOptions } from '../scenario.ts';
import { type RunningPrograms, startPrograms } from '../start-programs.ts';
import { counted, readStoreCounters } from '../store-counters.ts';
import { usageFigures } from '../usage-figures.ts';

export interface IdleManner {
  /** Behind the start, before it counts: first connections, first looks. */
  readonly settleMs: number;
  readonly watchMs: number;
}

const usPerMs = 1_000;
const msPerMinute = 60_000;

/** One activity is on sale, and nobody comes. There is nothing to judge: every figure is one of doing nothing. */
export async function runIdle(manner: IdleManner, options: RunOptions): Promise<Outcome> {
  const stores = await openStores(options.services);
  const started: RunningPrograms[] = [];
  try {
    return { kind: 'measured', figures: await watch(manner, stores, started, options) };
  } catch (error) {
    return { kind: 'no-figure', reasons: [(error as Error).message] };
  } finally {
    await Promise.all(started.map((programs) => programs.kill()));
    await stores.close();
  }
}

async function watch(
  { settleMs, watchMs }: IdleManner,
  stores: RunStores,
  started: RunningPrograms[],
  { services, dir, signal }: RunOptions,
): Promise<Figures> {
  const sale = describeSale(stores, services, await prepareSale(stores, { places: 1, sold: 0 }));
  await prepareTopics(sale);
  const http = { port: await freePort(), jwtSecret: randomBytes(32).toString('base64url') };
  const lapse = await startPrograms(appPrograms(apps, sale, http), dir);
  started.push(lapse);
  await Promise.race([sleep(settleMs, signal), lapse.died]);

  const meter = openMeter({ ...lapse.pids, ...services.pids });
  const before = await readStoreCounters(stores);
  const startedAt = performance.now();
  await Promise.race([sleep(watchMs, signal), lapse.died]);
  const usage = meter.read();
  const tookMs = performance.now() - startedAt;
  const after = await readStoreCounters(stores);

  const { rssPeakBytes, rssOverTime } = usageFigures(usage, 1);
  const aMinute = (counts: Record<string, number>): Record<string, number> =>
    mapValues(counts, (count) => (count * msPerMinute) / tookMs);
  return {
    orders: 1,
    seconds: tookMs / 1_000,
    perSecond: 1_000 / tookMs,
    cpuUsPerOrder: {},
    armCpuUsPerOrder: {},
    rssPeakBytes,
    rssOverTime,
    sql: {},
    redis: {},
    latenessMs: null,
    early: 0,
    responseMs: null,
    idle: {
      corePercent: mapValues(usage, ({ cpuUs }: Usage) => (100 * cpuUs) / (tookMs * usPerMs)),
      sqlPerMinute: aMinute(counted(before.sql, after.sql)),
      redisPerMinute: aMinute(counted(before.redis, after.redis)),
    },
  };
}

function mapValues<T>(values: Readonly<Record<string, T>>, of: (value: T) => number): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, of(value)]));
}

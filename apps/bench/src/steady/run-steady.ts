import { randomBytes } from 'node:crypto';
import { freePort } from '@lapse/local-services';
import { type App, appPrograms } from '../app-program.ts';
import { awaitDone } from '../burst/await-done.ts';
import { awaitLoad } from '../create/await-load.ts';
import { loadProgram } from '../create/load.ts';
import { openMeter } from '../meter.ts';
import { openStores, type RunStores } from '../open-stores.ts';
import { prepareTopics } from '../prepare-topics.ts';
import { readPlacesFree } from '../read-places-free.ts';
import type { Figures, Outcome } from '../result.ts';
import { describeSale, prepareSale, type SaleTimes } from '../sale.ts';
import type { RunOptions } from '../scenario.ts';
import { type RunningPrograms, startPrograms } from '../start-programs.ts';
import { counted, readStoreCounters } from '../store-counters.ts';
import { usageFigures } from '../usage-figures.ts';
import { judgeStream, latenessWithin } from './judge-stream.ts';

export interface SteadyManner {
  readonly perSecond: number;
  readonly times: SaleTimes;
  /** Behind the first deadline, before lateness counts: every process compiles what is hot. */
  readonly warmUpMs: number;
}

const connections = 64;
/** Nobody pays, so that the settler has nothing to do. */
const apps: readonly App[] = ['producer', 'reminder', 'closer', 'sweeper'];

/** Orders that have come in before one counts. */
export function ordersBeforeSteady({ perSecond, times, warmUpMs }: SteadyManner): number {
  return Math.ceil((perSecond * (times.payWithinMs + warmUpMs)) / 1_000);
}

/**
 * The whole of Lapse, as it is deployed, under a fixed rate: orders come in while others are reminded and close. CPU
 * time is that of all orders over their whole life; lateness is that of the orders which are due in the steady part,
 * between the warm-up and the last order that comes in.
 */
export async function runSteady(manner: SteadyManner, options: RunOptions): Promise<Outcome> {
  const before = ordersBeforeSteady(manner);
  if (options.size <= before) {
    return {
      kind: 'skipped',
      reason: `none of ${options.size} orders would count: ask for more than ${before}`,
    };
  }
  const stores = await openStores(options.services);
  const started: RunningPrograms[] = [];
  try {
    return await measure(manner, stores, started, options);
  } catch (error) {
    return { kind: 'no-figure', reasons: [(error as Error).message] };
  } finally {
    await Promise.all(started.map((programs) => programs.kill()));
    await stores.close();
  }
}

async function measure(
  manner: SteadyManner,
  stores: RunStores,
  started: RunningPrograms[],
  { services, dir, size: orders, signal }: RunOptions,
): Promise<Outcome> {
  const { times, warmUpMs } = manner;
  const sold = await prepareSale(stores, { places: orders, sold: 0, times });
  const sale = describeSale(stores, services, sold);
  await prepareTopics(sale);
  const http = { port: await freePort(), jwtSecret: randomBytes(32).toString('base64url') };
  const lapse = await startPrograms(appPrograms(apps, sale, http), dir);
  started.push(lapse);
  const load = await startPrograms(
    [
      loadProgram({
        origins: [`http://127.0.0.1:${http.port}`],
        path: `/v1/activities/${sale.activityId}/orders`,
        connections,
        warmUp: 0,
        requests: orders,
        perSecond: manner.perSecond,
        jwtSecret: http.jwtSecret,
      }),
    ],
    dir,
  );
  started.push(load);

  const meter = openMeter({ ...lapse.pids, ...services.pids });
  const before = await readStoreCounters(stores);
  const fromMs = Date.now() + times.payWithinMs + warmUpMs;
  load.signal('SIGUSR2');
  const died = Promise.race([lapse.died, load.died]);
  const { seconds, statuses, responseMs } = await Promise.race([awaitLoad(load, signal), died]);
  const toMs = Date.now();
  // In a run that is shorter than the pay window nothing moves until the first deadline.
  const stallMs = 2 * times.payWithinMs;
  const look = () => readPlacesFree(stores, sale.activities);
  const end = await Promise.race([awaitDone(look, { orders, dueAtMs: toMs }, stallMs, signal), died]);
  const usage = meter.read();
  const after = await readStoreCounters(stores);

  if (statuses['201'] !== orders) {
    const reason = `answers ${JSON.stringify(statuses)} instead of ${orders} orders`;
    return { kind: 'no-figure', reasons: [reason] };
  }
  const faults = end.isWhole
    ? await judgeStream(stores, orders)
    : [`places free again ${JSON.stringify(end.done)} of ${orders}`];
  if (faults.length > 0) return { kind: 'no-figure', reasons: faults };
  const figures: Figures = {
    orders,
    seconds,
    perSecond: orders / seconds,
    ...usageFigures(usage, orders),
    armCpuUsPerOrder: {},
    sql: counted(before.sql, after.sql),
    redis: counted(before.redis, after.redis),
    ...(await latenessWithin(stores, sale, { fromMs, toMs })),
    responseMs,
  };
  return { kind: 'measured', figures };
}

import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { freePort } from '@lapse/local-services';
import { sleep } from '@lapse/runtime';
import { openMeter } from '../meter.ts';
import { openStores, type RunStores } from '../open-stores.ts';
import { preparePending } from '../prepare-pending.ts';
import { prepareTopics } from '../prepare-topics.ts';
import { readyText } from '../ready-text.ts';
import type { Outcome } from '../result.ts';
import { describeSale, prepareSale, type Sale } from '../sale.ts';
import type { RunOptions } from '../scenario.ts';
import { type Program, type RunningPrograms, startPrograms } from '../start-programs.ts';
import { counted, readStoreCounters } from '../store-counters.ts';
import { usageFigures } from '../usage-figures.ts';
import { workerNames } from '../worker-names.ts';
import { awaitLoad } from './await-load.ts';
import type { HttpContender, HttpPlace } from './http-contender.ts';
import { judgeCreate } from './judge-create.ts';
import { loadProgram } from './load.ts';

/**
 * Half as many requests are sent before it counts, to each process of every contender: a producer needs some 10,000 until
 * what is hot is compiled, and takes 140 us of CPU an order in its first 20,000 where it takes 105 from then on.
 */
export const warmUpShare = 0.5;
/** What follows an answer, such as its message, is part of its cost. */
const trailMs = 1_000;

export interface CreateManner {
  readonly connections: number;
  /** Places are there for all, or for none. */
  readonly isSoldOut: boolean;
  /** Orders of other activities that are pending and not due; none by default. */
  readonly pending?: number;
}

const file = fileURLToPath(new URL('../../dist/server-process.js', import.meta.url));

/** One run of one contender: a fresh sale, and a load generator that keeps every connection busy. */
export async function runCreate(
  contender: HttpContender,
  manner: CreateManner,
  options: RunOptions,
): Promise<Outcome> {
  const stores = await openStores(options.services);
  const started: RunningPrograms[] = [];
  try {
    return await measure(contender, manner, stores, started, options);
  } catch (error) {
    return { kind: 'no-figure', reasons: [(error as Error).message] };
  } finally {
    await Promise.all(started.map((programs) => programs.kill()));
    await stores.close();
  }
}

async function measure(
  contender: HttpContender,
  { connections, isSoldOut, pending = 0 }: CreateManner,
  stores: RunStores,
  started: RunningPrograms[],
  { services, dir, size, signal }: RunOptions,
): Promise<Outcome> {
  const requests = Math.min(size, contender.ordersMax);
  const warmUp = Math.ceil(requests * warmUpShare) * (contender.processes ?? 1);
  const orders = isSoldOut ? 1 : requests + warmUp;
  const sold = isSoldOut ? 1 : 0;
  await preparePending(stores, pending);
  const sale = describeSale(stores, services, await prepareSale(stores, { places: orders, sold }));
  if (contender.needsBroker) await prepareTopics(sale);
  const jwtSecret = randomBytes(32).toString('base64url');
  const { server, origins } = await startServers(contender, sale, jwtSecret, dir);
  started.push(server);
  const path = `/v1/activities/${sale.activityId}/orders`;
  const plan = { origins, path, connections, warmUp, requests, perSecond: null, jwtSecret };
  const load = await startPrograms([loadProgram(plan)], dir);
  started.push(load);

  const { broker = [], ...used } = services.pids;
  const meter = openMeter({ ...server.pids, ...used, ...(contender.needsBroker && { broker }) });
  const before = await readStoreCounters(stores);
  load.signal('SIGUSR2');
  const { seconds, statuses, responseMs } = await Promise.race([
    awaitLoad(load, signal),
    load.died,
    server.died,
  ]);
  await sleep(trailMs, signal);
  const usage = meter.read();
  const after = await readStoreCounters(stores);

  const wanted = { [isSoldOut ? 409 : 201]: requests + warmUp };
  if (JSON.stringify(statuses) !== JSON.stringify(wanted)) {
    const reason = `answers ${JSON.stringify(statuses)} instead of ${JSON.stringify(wanted)}`;
    return { kind: 'no-figure', reasons: [reason] };
  }
  const judgedBy = isSoldOut && contender.judgedBy === 'redis' ? 'counts' : contender.judgedBy;
  const faults = await judgeCreate(stores, sale, orders, judgedBy);
  if (faults.length > 0) return { kind: 'no-figure', reasons: [...faults] };
  const figures = {
    orders: requests,
    seconds,
    perSecond: requests / seconds,
    ...usageFigures(usage, requests),
    armCpuUsPerOrder: {},
    sql: counted(before.sql, after.sql),
    redis: counted(before.redis, after.redis),
    latenessMs: null,
    early: 0,
    responseMs,
  };
  return { kind: 'measured', figures };
}

async function startServers(
  contender: HttpContender,
  sale: Sale,
  jwtSecret: string,
  dir: string,
): Promise<{ server: RunningPrograms; origins: string[] }> {
  const places: HttpPlace[] = [];
  for (const worker of workerNames(contender.processes ?? 1)) {
    places.push({ worker, port: await freePort(), jwtSecret });
  }
  const programs = places.map((place) => serverProgram(contender, sale, place));
  const server = await startPrograms(programs, dir);
  return { server, origins: places.map(({ port }) => `http://127.0.0.1:${port}`) };
}

function serverProgram({ name, program }: HttpContender, sale: Sale, place: HttpPlace): Program {
  if (program) return program(sale, place);
  const env = { LAPSE_BENCH_SALE: JSON.stringify(sale), LAPSE_BENCH_PLACE: JSON.stringify(place) };
  return { name: place.worker, file, args: [name], env, readyText };
}

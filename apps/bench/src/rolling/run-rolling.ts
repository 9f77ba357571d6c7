import { randomBytes } from 'node:crypto';
import { sleep } from '@lapse/runtime';
import { type App, apps } from '../app-program.ts';
import { awaitDone } from '../burst/await-done.ts';
import { awaitLoad } from '../create/await-load.ts';
import { loadProgram } from '../create/load.ts';
import { createLatencies } from '../latencies.ts';
import { openMeter } from '../meter.ts';
import { openStores, type RunStores } from '../open-stores.ts';
import { prepareTopics } from '../prepare-topics.ts';
import { readPlacesFree } from '../read-places-free.ts';
import type { Figures, Outcome } from '../result.ts';
import { describeSale, prepareSale } from '../sale.ts';
import type { RunOptions } from '../scenario.ts';
import { type RunningPrograms, startPrograms } from '../start-programs.ts';
import { judgeStream, latenessWithin } from '../steady/judge-stream.ts';
import type { SteadyManner } from '../steady/run-steady.ts';
import { usageFigures } from '../usage-figures.ts';
import { openBalancer } from './balance.ts';
import { endMember, type Member, type RollingParts, startMember } from './processes.ts';
import { watchEnds } from './watch-ends.ts';

const connections = 64;
const replicas = 2;
const retriesMax = 3;

export interface RollingManner extends SteadyManner {
  /** Of which kinds every process is replaced. */
  readonly replaced: readonly App[];
}

/**
 * Two of each process under a stream of orders, and one after the other is replaced, as a rolling update does it: a new
 * one is started, then an old one is told to end. Every answer must be 201, and every order keep its deadline.
 */
export async function runRolling(manner: RollingManner, options: RunOptions): Promise<Outcome> {
  const stores = await openStores(options.services);
  const running = new Set<RunningPrograms>();
  const balancer = await openBalancer();
  try {
    return await measure(manner, stores, options, balancer, running);
  } catch (error) {
    return { kind: 'no-figure', reasons: [(error as Error).message] };
  } finally {
    await Promise.all([...running].map((programs) => programs.kill()));
    await balancer.close();
    await stores.close();
  }
}

async function measure(
  manner: RollingManner,
  stores: RunStores,
  { services, dir, size: orders, signal }: RunOptions,
  balancer: Awaited<ReturnType<typeof openBalancer>>,
  running: Set<RunningPrograms>,
): Promise<Outcome> {
  const sold = await prepareSale(stores, { places: orders, sold: 0, times: manner.times });
  const sale = describeSale(stores, services, sold);
  await prepareTopics(sale);
  const parts: RollingParts = { sale, jwtSecret: randomBytes(32).toString('base64url'), balancer, dir };
  const { crashed, watch } = watchEnds();
  const asked = new Set<RunningPrograms>();
  const start = async (app: App): Promise<Member> => {
    const member = await startMember(app, parts);
    running.add(member.programs);
    watch(member.programs, () => asked.has(member.programs));
    return member;
  };
  const members: Member[] = [];
  for (const app of apps) for (let n = 0; n < replicas; n += 1) members.push(await start(app));
  const load = await startPrograms(
    [
      loadProgram({
        origins: [`http://127.0.0.1:${balancer.port}`],
        path: `/v1/activities/${sale.activityId}/orders`,
        ...{ connections, warmUp: 0, requests: orders, perSecond: manner.perSecond, retriesMax },
        jwtSecret: parts.jwtSecret,
      }),
    ],
    dir,
  );
  running.add(load);
  watch(load, () => false);
  const meter = openMeter({ load: load.pids.load ?? [], ...services.pids });
  const fromMs = Date.now() + manner.times.payWithinMs + manner.warmUpMs;
  load.signal('SIGUSR2');
  const loading = awaitLoad(load, signal).then((result) => ({ ...result, endedAtMs: Date.now() }));
  // It is awaited below, and may fail before.
  loading.catch(() => undefined);
  await Promise.race([sleep(fromMs - Date.now(), signal), crashed]);
  const stops = createLatencies();
  const wanted = members.filter(({ app }) => manner.replaced.includes(app));
  for (const member of wanted) {
    signal.throwIfAborted();
    await Promise.race([start(member.app), crashed]);
    asked.add(member.programs);
    stops.record(await Promise.race([endMember(member, parts), crashed]));
    running.delete(member.programs);
  }
  const rolledMs = Date.now();
  const { seconds, statuses, retried, responseMs, endedAtMs: toMs } = await Promise.race([loading, crashed]);
  const look = () => readPlacesFree(stores, sale.activities);
  const done = awaitDone(look, { orders, dueAtMs: toMs }, 2 * manner.times.payWithinMs, signal);
  const end = await Promise.race([done, crashed]);
  const faults = end.isWhole
    ? await judgeStream(stores, orders)
    : [`places free again ${JSON.stringify(end.done)} of ${orders}`];
  if (statuses['201'] !== orders)
    faults.push(`answers ${JSON.stringify(statuses)} instead of ${orders} orders`);
  if (rolledMs > toMs) faults.push('the load was over before every process was replaced');
  if (faults.length > 0) return { kind: 'no-figure', reasons: faults };
  const figures: Figures = {
    orders,
    seconds,
    perSecond: orders / seconds,
    ...usageFigures(meter.read(), orders),
    armCpuUsPerOrder: {},
    sql: {},
    redis: {},
    ...(await latenessWithin(stores, sale, { fromMs, toMs })),
    responseMs,
    rolling: { replaced: wanted.length, retried, stopMs: stops.read() },
  };
  return { kind: 'measured', figures };
}

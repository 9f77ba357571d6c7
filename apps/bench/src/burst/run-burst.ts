import { sleep } from '@lapse/runtime';
import { BenchError } from '../bench-error.ts';
import { copySale } from '../copy-sale.ts';
import { type Meter, openMeter } from '../meter.ts';
import { openStores, type RunStores } from '../open-stores.ts';
import { preparePending } from '../prepare-pending.ts';
import { prepareTopics } from '../prepare-topics.ts';
import { type NamedPids, readUsage } from '../process-usage.ts';
import type { Figures, Outcome } from '../result.ts';
import { describeSale, prepareSale, type Sale, setDueTimes } from '../sale.ts';
import type { RunOptions } from '../scenario.ts';
import type { BenchServices } from '../services.ts';
import { type RunningPrograms, startPrograms } from '../start-programs.ts';
import { counted, readStoreCounters } from '../store-counters.ts';
import { cpuUsPerOrder, usageFigures } from '../usage-figures.ts';
import { awaitDone } from './await-done.ts';
import type { BurstTask, Faults } from './burst-task.ts';
import type { BurstContender } from './contender.ts';
import { armedText, armProgram, workPrograms } from './own-program.ts';

/** Everything stands still for so long before the deadline, but for messages that are delivered early. */
const quietMs = 2_000;
/** What it takes to write the deadline into every order. */
const deadlineMs = 500;
const deadlineMsPerOrder = 0.03;
const attemptsMax = 3;
const armedLookMs = 50;
const lateText = 'it was not ready by the deadline: the machine is too busy. Try again when it is quiet.';
const stallMsDefault = 15_000;

/** What is due at one moment, and beside what. */
export interface BurstManner {
  readonly task: BurstTask;
  /** Among which the orders are spread evenly; one by default. */
  readonly activities?: number;
  /** Orders of other activities that are pending and not due; none by default. */
  readonly pending?: number;
}

export interface BurstRunOptions extends RunOptions {
  /** Nothing moves for so long: it will not be done. Longer than any contender's pause. */
  readonly stallMs?: number;
}

/** One run of one contender: a fresh sale, all of it due at one moment. Tried again when the machine was too slow to be ready by then. */
export async function runBurst(
  contender: BurstContender,
  manner: BurstManner,
  options: BurstRunOptions,
): Promise<Outcome> {
  const queue = await openQueue(contender, options.services);
  if (typeof queue === 'string') return { kind: 'skipped', reason: queue };
  for (let attempt = 1; ; attempt += 1) {
    const stores = await openStores(options.services, queue.postgresUrl);
    try {
      return await runSale({ contender, manner, stores, queue, options }, attempt);
    } catch (error) {
      const isLate = error instanceof BenchError && error.code === 'LAPSE_BENCH_NOT_ARMED';
      if (!isLate) return { kind: 'no-figure', reasons: [(error as Error).message] };
      if (attempt === attemptsMax) return { kind: 'no-figure', reasons: [error.message] };
    } finally {
      await stores.close();
    }
  }
}

interface PlannedRun {
  readonly contender: BurstContender;
  readonly manner: BurstManner;
  readonly queue: Queue;
  readonly stores: RunStores;
  readonly options: BurstRunOptions;
}

async function runSale(run: PlannedRun, attempt: number): Promise<Outcome> {
  const { contender, manner, stores, queue, options } = run;
  const { task, activities = 1, pending = 0 } = manner;
  const orders = Math.min(options.size, contender.ordersMax);
  await preparePending(stores, pending);
  const sold = await prepareSale(stores, { places: orders, activities });
  if (stores.postgres) await copySale(stores.mysql, stores.postgres.pool);
  const sale = describeSale(stores, options.services, sold, queue.amqpUrl);
  if (contender.queue === 'rocketmq') await prepareTopics(sale);
  const dir = `${options.dir}-${attempt}`;
  const armer = armProgram(task, contender, sale);
  const workers = workPrograms(task, contender, sale);
  const programs = await startPrograms(armer ? [...workers, armer] : workers, dir);
  try {
    const armMs = attempt * (deadlineMs + orders * deadlineMsPerOrder + contender.armMs(orders));
    return await measure({ ...run, sale, programs, armMs });
  } finally {
    await programs.kill();
  }
}

interface Queue {
  readonly amqpUrl: string;
  readonly postgresUrl: string;
  /** Of the stores, and of the queue that the contender uses: another one idles beside it, at nobody's cost. */
  readonly pids: NamedPids;
}

/** @returns a reason where this machine lacks it. */
async function openQueue(
  { queue, database }: BurstContender,
  services: BenchServices,
): Promise<Queue | string> {
  const { broker = [], ...stores } = services.pids;
  const none = { amqpUrl: '', postgresUrl: '' };
  if (database === 'postgres') {
    const postgres = await services.peers.postgres();
    if (typeof postgres === 'string') return postgres;
    const { redis = [] } = stores;
    return { ...none, postgresUrl: postgres.url, pids: { postgres: postgres.pids, redis } };
  }
  if (queue === null) return { ...none, pids: stores };
  if (queue === 'rocketmq') return { ...none, pids: { ...stores, broker } };
  const rabbitmq = await services.peers.rabbitmq();
  if (typeof rabbitmq === 'string') return rabbitmq;
  return { ...none, amqpUrl: rabbitmq.url, pids: { ...stores, broker: rabbitmq.pids } };
}

interface ReadyRun extends PlannedRun {
  readonly sale: Sale;
  readonly programs: RunningPrograms;
  readonly armMs: number;
}

/** The workers wait: set the deadline, let it pass, and read what it took. */
async function measure(run: ReadyRun): Promise<Outcome> {
  const { contender, stores, sale, programs, options } = run;
  const { task } = run.manner;
  const { stallMs = stallMsDefault, signal } = options;
  const { orders } = sale;
  const pids = run.queue.pids;
  const dueAtMs = Math.ceil(Date.now() + quietMs + run.armMs);
  const arming = openMeter(pids);
  await stores.postgres?.setDeadline(dueAtMs);
  // What the armer waits for, wherever the orders are.
  await setDueTimes(stores.mysql, sale, task.dueColumn, dueAtMs);
  const armCpuUsPerOrder = await awaitArmed(run, dueAtMs - quietMs, arming);
  await sleep(dueAtMs - quietMs - Date.now(), signal);

  const { armer: _, ...workers } = programs.pids;
  const meter = openMeter({ ...workers, ...pids });
  const before = await readStoreCounters(stores);
  await sleep(dueAtMs - Date.now(), signal);
  const end = await Promise.race([
    awaitDone(() => task.countDone(stores, sale), { orders, dueAtMs }, stallMs, signal),
    programs.died,
  ]);
  await task.settle(stores, sale, contender, signal);
  const usage = meter.read();
  const after = await readStoreCounters(stores);

  const faults = await task.judge(stores, sale, contender);
  if (faults.length > 0 || !end.isWhole) return noFigure(faults, programs);
  const { early, ...latenessMs } = await task.readLateness(stores, sale);
  const seconds = (end.atMs - dueAtMs) / 1_000;
  const figures: Figures = {
    orders,
    seconds,
    perSecond: orders / seconds,
    ...usageFigures(usage, orders),
    armCpuUsPerOrder,
    // Of MySQL, which others use as well.
    sql: stores.postgres ? {} : counted(before.sql, after.sql),
    redis: counted(before.redis, after.redis),
    latenessMs,
    early,
    responseMs: null,
  };
  return { kind: 'measured', figures };
}

/**
 * Wait until the orders are handed over.
 * @returns what that cost, by process and service.
 * @throws {BenchError} LAPSE_BENCH_NOT_ARMED when it is not done by then.
 */
async function awaitArmed({ programs, sale }: ReadyRun, byMs: number, services: Meter) {
  const pid = programs.pids.armer?.[0];
  while (pid !== undefined && !programs.output('armer').includes(armedText) && Date.now() <= byMs) {
    await Promise.race([sleep(armedLookMs), programs.died]);
  }
  if (Date.now() > byMs) throw new BenchError('LAPSE_BENCH_NOT_ARMED', lateText);
  const used = cpuUsPerOrder(services.read(), sale.orders);
  // From its start: its loading is a part of what it costs.
  const own = pid === undefined ? undefined : readUsage(pid);
  return own === undefined ? used : { ...used, armer: own.cpuUs / sale.orders };
}

function noFigure(faults: Faults, programs: RunningPrograms): Outcome {
  const words = programs.output('worker').trim().split('\n').slice(-3).join('\n');
  const reasons = faults.length > 0 ? faults : ['it stood still before it was done'];
  return { kind: 'no-figure', reasons: words === '' ? [...reasons] : [...reasons, `last words: ${words}`] };
}

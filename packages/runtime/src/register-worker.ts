import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { WorkerFigures, WorkerKind, WorkerReport, WorkerState, WorkerWish } from '@lapse/contracts';
import { appVersion } from './app-version.ts';
import type { Closable } from './closable.ts';
import type { Logger } from './logger.ts';
import { Gauge } from './metrics.ts';
import type { Pausable } from './pausable.ts';
import { repeat } from './repeat.ts';

/** While the process drains it looks so often whether that is over, and says so at once. */
const drainCheckMs = 250;
/** Time between two looks for the rows of processes that are dead. */
const forgetEveryMs = 300_000;
const hostLengthMax = 255;

const pausedGauge = new Gauge({
  name: 'lapse_worker_paused',
  help: '1 while an operator wants this process to be paused.',
});

/** Where processes are known: MySQL, by way of the repository. */
export interface WorkerStore {
  reportWorker(report: WorkerReport): Promise<{ readonly wanted: WorkerWish }>;
  forgetDeadWorkers(): Promise<number>;
}

export interface RegisterOptions {
  readonly kind: WorkerKind;
  readonly heartbeatMs: number;
  readonly store: WorkerStore;
  readonly log: Logger;
}

export interface RegisteredWorker extends Closable {
  /** Pause and resume this part with the process. Returns it. */
  controls<P extends Pausable>(part: P): P;
  /** Not drained before this is idle too: what the parts gave it to do beside them. */
  awaits(beside: { isIdle(): boolean }): void;
  /** Say this too with each heartbeat. */
  measures(read: () => WorkerFigures): void;
  stopping(): void;
}

/**
 * Make the process known to operators, who see it and pause it: a heartbeat says what it does and hears what is
 * wanted. Open it right after the store, so that it closes after the parts at work, and then says good-bye.
 *
 * It is never in the way of the work: a heartbeat that fails is tried again at the next turn, and while MySQL is away
 * the last wish stands. Each start is a worker of its own, which begins to run: a pause does not outlive the process.
 */
export function registerWorker({ kind, heartbeatMs, store, log }: RegisterOptions): RegisteredWorker {
  const self = {
    ...{ id: randomUUID() as string, kind, heartbeatMs, pid: process.pid, version: appVersion() },
    host: hostname().slice(0, hostLengthMax),
  };
  const parts: Pausable[] = [];
  const beside: { isIdle(): boolean }[] = [];
  const readers = [createLoopMeter()];
  let wanted: WorkerWish = 'RUN';
  let isStopping = false;
  let reported: WorkerState | undefined;
  let watched: WorkerState | undefined;
  let forgotAt = Number.NEGATIVE_INFINITY;
  let drainWatch: NodeJS.Timeout | undefined;

  const stateNow = (): WorkerState => {
    if (wanted === 'RUN') return isStopping ? 'PAUSING' : 'RUNNING';
    const isDrained = parts.every((part) => part.isDrained()) && beside.every((one) => one.isIdle());
    return isDrained ? 'PAUSED' : 'PAUSING';
  };
  const report = (state: WorkerState) => {
    const figures = Object.assign({}, ...readers.map((read) => read()));
    return store.reportWorker({ ...self, uptimeMs: process.uptime() * 1_000, state, wanted, figures });
  };
  const beat = async (): Promise<void> => {
    const state = stateNow();
    const answer = await report(state);
    reported = state;
    if (answer.wanted !== wanted) follow(answer.wanted);
    if (performance.now() - forgotAt < forgetEveryMs) return;
    forgotAt = performance.now();
    await store.forgetDeadWorkers();
  };
  const heartbeat = repeat({ name: 'heartbeat', everyMs: heartbeatMs, task: beat, log });

  function follow(wish: WorkerWish): void {
    wanted = wish;
    pausedGauge.set(wish === 'PAUSE' ? 1 : 0);
    log.warn({ workerId: self.id }, wish === 'PAUSE' ? 'paused by an operator' : 'resumed by an operator');
    for (const part of parts) apply(part);
    clearInterval(drainWatch);
    watched = undefined;
    if (wish === 'PAUSE') drainWatch = setInterval(watchDrain, drainCheckMs);
    heartbeat.wake();
  }

  function apply(part: Pausable): void {
    if (wanted === 'PAUSE') part.pause();
    else part.resume();
  }

  /** Once for each state: what cannot be said now is said with the next heartbeat. */
  function watchDrain(): void {
    const state = stateNow();
    if (state === 'PAUSED') clearInterval(drainWatch);
    if (state !== reported && state !== watched) heartbeat.wake();
    watched = state;
  }

  return {
    controls: (part) => {
      parts.push(part);
      if (wanted === 'PAUSE') part.pause();
      return part;
    },
    awaits: (one) => void beside.push(one),
    measures: (read) => void readers.push(read),
    stopping: () => {
      isStopping = true;
      heartbeat.wake();
    },
    close: async () => {
      clearInterval(drainWatch);
      await heartbeat.close();
      if (reported === 'STOPPED') return;
      try {
        await report('STOPPED');
        reported = 'STOPPED';
      } catch (error) {
        log.debug({ err: error }, 'the stop could not be noted; others see that the heartbeat ends');
      }
    },
  };
}

/** How busy the event loop was since it was asked before. */
function createLoopMeter(): () => WorkerFigures {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return { loopBusyPercent: Math.round(100 * Math.min(1, Math.max(0, utilization))) };
  };
}

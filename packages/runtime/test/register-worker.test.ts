import type { WorkerReport, WorkerWish } from '@lapse/contracts';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createLogger, type Pausable, type RegisteredWorker, registerWorker } from '../src/index.ts';

const quiet = createLogger('test', 'silent');
const seldomMs = 60_000;

/** Where the process reports, in this process: what it said, and what it is told. */
function openStore() {
  const reports: WorkerReport[] = [];
  const store = {
    wanted: 'RUN' as WorkerWish,
    away: false,
    forgotten: 0,
    reports,
    reportWorker: async (report: WorkerReport) => {
      if (store.away) throw new Error('MySQL is away');
      reports.push(report);
      return { wanted: store.wanted };
    },
    forgetDeadWorkers: async () => {
      store.forgotten += 1;
      return 0;
    },
  };
  return store;
}

function openPart() {
  const part = {
    paused: false,
    inHand: 0,
    pause: () => {
      part.paused = true;
    },
    resume: () => {
      part.paused = false;
    },
    isDrained: () => part.paused && part.inHand === 0,
  };
  return part satisfies Pausable;
}

let workers: RegisteredWorker[] = [];
afterEach(async () => {
  for (const worker of workers) await worker.close();
  workers = [];
});
function register(store: ReturnType<typeof openStore>, heartbeatMs = 5): RegisteredWorker {
  const worker = registerWorker({ kind: 'closer', heartbeatMs, store, log: quiet });
  workers.push(worker);
  return worker;
}
const states = ({ reports }: ReturnType<typeof openStore>) => [...new Set(reports.map(({ state }) => state))];

describe('a registered process', () => {
  test('reports at once and again, always by the same id, with what its parts measure', async () => {
    const store = openStore();
    register(store).measures(() => ({ inHand: 7 }));
    await vi.waitUntil(() => store.reports.length >= 3);
    expect(new Set(store.reports.map(({ id }) => id)).size).toBe(1);
    expect(store.reports.at(-1)).toMatchObject({
      ...{ kind: 'closer', pid: process.pid, state: 'RUNNING', wanted: 'RUN', heartbeatMs: 5 },
      figures: { inHand: 7, loopBusyPercent: expect.any(Number) },
    });
    expect(store.forgotten).toBe(1);
  });

  test('pauses its parts when that is wanted, is PAUSED once nothing is in hand, and says so without a heartbeat', async () => {
    const store = openStore();
    store.wanted = 'PAUSE';
    const part = openPart();
    part.inHand = 1;
    register(store, seldomMs).controls(part);
    await vi.waitUntil(() => store.reports.some(({ state }) => state === 'PAUSING'));
    expect(part.paused).toBe(true);
    part.inHand = 0;
    await vi.waitUntil(() => store.reports.some(({ state }) => state === 'PAUSED'));
    // Said once each: the next one comes with the next heartbeat.
    expect(store.reports.map(({ state }) => state)).toEqual(['RUNNING', 'PAUSING', 'PAUSED']);
  });

  test('is not PAUSED before what its parts gave others to do is done', async () => {
    const store = openStore();
    store.wanted = 'PAUSE';
    const lane = { idle: false, isIdle: () => lane.idle };
    const worker = register(store, seldomMs);
    worker.controls(openPart());
    worker.awaits(lane);
    await vi.waitUntil(() => store.reports.some(({ state }) => state === 'PAUSING'));
    lane.idle = true;
    await vi.waitUntil(() => store.reports.at(-1)?.state === 'PAUSED');
  });

  test('resumes them, also before they were drained', async () => {
    const store = openStore();
    store.wanted = 'PAUSE';
    const part = openPart();
    part.inHand = 1;
    register(store).controls(part);
    await vi.waitUntil(() => part.paused);
    store.wanted = 'RUN';
    await vi.waitUntil(() => !part.paused);
    await vi.waitUntil(() => store.reports.at(-1)?.state === 'RUNNING');
    expect(states(store)).toEqual(['RUNNING', 'PAUSING']);
  });

  test('pauses a part that is opened while it is paused', async () => {
    const store = openStore();
    store.wanted = 'PAUSE';
    const worker = register(store);
    await vi.waitUntil(() => store.reports.at(-1)?.wanted === 'PAUSE');
    expect(worker.controls(openPart()).paused).toBe(true);
  });

  test('keeps the last wish while the store is away, and is neither stopped nor resumed by that', async () => {
    const store = openStore();
    store.wanted = 'PAUSE';
    const part = openPart();
    register(store).controls(part);
    await vi.waitUntil(() => store.reports.at(-1)?.state === 'PAUSED');
    store.away = true;
    await vi.waitUntil(() => store.reports.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(part.paused).toBe(true);
    // Its row was deleted meanwhile, and with it the wish: it says itself what it was told.
    store.away = false;
    const before = store.reports.length;
    await vi.waitUntil(() => store.reports.length > before);
    expect(store.reports.at(-1)).toMatchObject({ wanted: 'PAUSE', state: 'PAUSED' });
  });

  test('is seen while it drains to stop, and says good-bye last', async () => {
    const store = openStore();
    const worker = register(store);
    await vi.waitUntil(() => store.reports.length > 0);
    worker.stopping();
    await vi.waitUntil(() => store.reports.at(-1)?.state === 'PAUSING');
    await worker.close();
    const { length } = store.reports;
    expect(store.reports.at(-1)?.state).toBe('STOPPED');
    await worker.close();
    expect(store.reports).toHaveLength(length);
  });

  test('a stop that cannot be noted is no fault', async () => {
    const store = openStore();
    const worker = register(store);
    await vi.waitUntil(() => store.reports.length > 0);
    store.away = true;
    await worker.close();
  });
});

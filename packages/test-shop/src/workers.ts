import type { WorkerKind, WorkerState, WorkerWish } from '@lapse/contracts';
import type { Worker } from '@lapse/order-repository';
import { waitUntil } from '@lapse/testing';
import { noAnswer } from './settled.ts';
import type { Shop } from './shop.ts';

type WorkersOf = Pick<Shop, 'orders'>;

/** Polls of 5 s, and what is due within 10 s, are waited for before a consumer is drained. */
const stateTimeoutMs = 40_000;

/** A process that has reported, by its kind and, where there are several, its process id. */
export function findWorker({ orders }: WorkersOf, kind: WorkerKind, pid?: number): Promise<Worker> {
  return waitUntil(
    async () => {
      const workers = await orders.listWorkers();
      const found = workers.find((one) => one.kind === kind && one.alive && (pid ?? one.pid) === one.pid);
      if (!found) throw new Error(`${workers.length} workers, none of them a ${kind}`);
      return found;
    },
    { what: `a ${kind} to report`, timeoutMs: stateTimeoutMs },
  );
}

/** Have an operator want it of a process, and wait until the process says that it is so. */
export async function directWorker(
  shop: WorkersOf,
  { id, kind }: Pick<Worker, 'id' | 'kind'>,
  wanted: WorkerWish,
): Promise<void> {
  const options = { dryRun: false, actor: 'boss', reason: 'of the test' };
  const { kind: result } = await shop.orders.setWorkerWanted(id, wanted, options, noAnswer);
  if (result !== 'done') throw new Error(`the ${kind} was not directed: ${result}`);
  await waitForState(shop, id, wanted === 'PAUSE' ? 'PAUSED' : 'RUNNING');
}

/** Wait until a process says that it is in this state. */
export async function waitForState({ orders }: WorkersOf, id: string, state: WorkerState): Promise<void> {
  await waitUntil(
    async () => (await orders.listWorkers()).some((one) => one.id === id && one.state === state),
    {
      what: `worker ${id} to be ${state}`,
      timeoutMs: stateTimeoutMs,
    },
  );
}

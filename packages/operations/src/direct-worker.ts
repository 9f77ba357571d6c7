import { type WorkerView, type WorkerWish, workerPauseView } from '@lapse/contracts';
import type { OrderRepository, SettleOptions, Worker } from '@lapse/order-repository';
import type { OperatorAnswer } from './operator-answer.ts';

export interface DirectWorkerPorts {
  readonly orders: Pick<OrderRepository, 'setWorkerWanted'>;
}

/** Say by an operator's hand what a process is to do. The process hears it with its next heartbeat. */
export async function directWorker(
  { orders }: DirectWorkerPorts,
  id: string,
  wanted: WorkerWish,
  options: SettleOptions,
): Promise<OperatorAnswer> {
  const { dryRun } = options;
  const done = await orders.setWorkerWanted(id, wanted, options, ({ worker, changes }) => ({
    status: 200,
    body: Buffer.from(
      JSON.stringify(workerPauseView.parse({ dryRun, changes, worker: toWorkerView(worker) })),
    ),
  }));
  switch (done.kind) {
    case 'done':
    case 'replayed':
      return done;
    case 'key_reused':
      return { kind: 'refused', problem: { code: 'IDEMPOTENCY_KEY_REUSED' } };
    case 'refused':
      return {
        kind: 'refused',
        problem: { code: done.result.kind === 'stopped' ? 'WORKER_STOPPED' : 'WORKER_NOT_FOUND' },
      };
  }
}

export function toWorkerView({ startedAt, heartbeatAt, ...worker }: Worker): WorkerView {
  return { ...worker, startedAt: startedAt.toISOString(), heartbeatAt: heartbeatAt.toISOString() };
}

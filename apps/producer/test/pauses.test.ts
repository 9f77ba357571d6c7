import { randomUUID } from 'node:crypto';
import {
  activityPauseView,
  problemView,
  type WorkerReport,
  workerList,
  workerPauseView,
} from '@lapse/contracts';
import { queryDatabase } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CreateRequest, createOrder } from '../src/create-order.ts';
import { createSaleGate } from '../src/sale-gate.ts';
import { openTestApi, openTestStores, paymentEvent, type TestApi, type TestStores } from './test-api.ts';

let stores: TestStores;
let api: TestApi;
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

const done = { dryRun: false, reason: 'a wrong price' };
const ask = (url: string, body: object = done, headers: Record<string, string> = {}) =>
  api.send({ method: 'POST', url, operator: true, as: 'boss', body, headers });
const actionsOf = async (target: string) => {
  const rows = await queryDatabase(
    stores.mysqlUrl,
    "SELECT action FROM operator_action WHERE target = ? AND action <> 'activity.create' ORDER BY id",
    [target],
  );
  return rows.map(({ action }) => action);
};

describe('pausing the sale of an activity', () => {
  const pause = (id: number, body?: object, headers?: Record<string, string>) =>
    ask(`/v1/activities/${id}/pause`, body, headers);
  const resume = (id: number) => ask(`/v1/activities/${id}/resume`);

  it('refuses new orders with 409 SALE_PAUSED until it is resumed, and shows since when', async () => {
    const activity = await api.createActivity();
    const reply = await pause(activity.id);
    expect(reply.statusCode, reply.body).toBe(200);
    const paused = activityPauseView.parse(reply.json());
    expect(paused).toMatchObject({ dryRun: false, changes: true });
    const refused = await api.placeOrder(activity.id, 'ann', 'k');
    const { salePausedAt } = paused.activity;
    expect([refused.statusCode, problemView.parse(refused.json())]).toMatchObject([
      409,
      { code: 'SALE_PAUSED', salePausedAt },
    ]);
    expect((await api.send({ url: `/v1/activities/${activity.id}` })).json().salePausedAt).toBe(salePausedAt);
    expect(await api.stock.readCounts(activity.id)).toMatchObject({ stock: 100, held: 0, users: 0 });
    await resume(activity.id);
    expect((await api.placeOrder(activity.id, 'ann', 'k')).statusCode).toBe(201);
    expect(await actionsOf(String(activity.id))).toEqual(['activity.pause', 'activity.resume']);
  });

  it('negative control: without the check an order goes in', async () => {
    const activity = await api.createActivity();
    await pause(activity.id);
    const ports = api.create;
    const wanted: CreateRequest = {
      activityId: activity.id,
      userId: 'bea',
      locale: 'en',
      idempotencyKey: 'k',
      body: { quantity: 1 },
    };
    expect(await createOrder(ports, wanted)).toMatchObject({ problem: { code: 'SALE_PAUSED' } });
    const unguarded: typeof ports = {
      ...ports,
      activities: {
        ...ports.activities,
        read: async (id) => {
          const read = await ports.activities.read(id);
          return read && { ...read, salePausedAt: null };
        },
      },
    };
    expect(await createOrder(unguarded, wanted)).toMatchObject({ kind: 'created' });
  });

  it('is heard by every process within the second that its cache keeps an activity', async () => {
    const activity = await api.createActivity();
    const other = await openTestApi(stores);
    try {
      // In its cache from now on.
      expect((await other.placeOrder(activity.id, 'cat', 'k')).statusCode).toBe(201);
      await pause(activity.id);
      const pausedAt = performance.now();
      let buyers = 0;
      await expect
        .poll(
          async () => {
            buyers += 1;
            return (await other.placeOrder(activity.id, `late-${buyers}`, 'k')).json().code;
          },
          { timeout: 5_000, interval: 50 },
        )
        .toBe('SALE_PAUSED');
      expect(performance.now() - pausedAt).toBeLessThan(2_500);
    } finally {
      await other.close();
    }
  });

  it('still repeats the first answer, and lets what was placed be paid and cancelled', async () => {
    const activity = await api.createActivity();
    const first = await api.placeOrder(activity.id, 'dan', 'k');
    const cancelled = (await api.placeOrder(activity.id, 'eve', 'k')).json();
    await pause(activity.id);
    const again = await api.placeOrder(activity.id, 'dan', 'k');
    expect([again.statusCode, again.body, again.headers['idempotent-replayed']]).toEqual([
      201,
      first.body,
      'true',
    ]);
    expect((await api.placeOrder(activity.id, 'dan', 'k2')).json().code).toBe('SALE_PAUSED');
    expect((await api.pay(paymentEvent(first.json()))).json()).toMatchObject({ outcome: 'paid' });
    const cancel = { method: 'POST', url: `/v1/orders/${cancelled.id}/cancel`, as: 'eve' } as const;
    expect((await api.send(cancel)).json().status).toBe('CANCELLED');
  });

  it('is a dry run unless told otherwise, and says so', async () => {
    const activity = await api.createActivity();
    const dry = await pause(activity.id, { reason: 'a look' });
    expect(dry.json()).toMatchObject({ dryRun: true, changes: true, activity: { salePausedAt: null } });
    expect((await api.placeOrder(activity.id, 'flo', 'k')).statusCode).toBe(201);
    expect(await actionsOf(String(activity.id))).toEqual([]);
  });

  it('gets the first answer again for the same key, and 422 for another request with it', async () => {
    const activity = await api.createActivity();
    const key = { 'idempotency-key': `pause-${activity.id}` };
    const first = await pause(activity.id, done, key);
    const again = await pause(activity.id, done, key);
    expect([again.body, again.headers['idempotent-replayed']]).toEqual([first.body, 'true']);
    expect((await ask(`/v1/activities/${activity.id}/resume`, done, key)).json().code).toBe(
      'IDEMPOTENCY_KEY_REUSED',
    );
    expect(await actionsOf(String(activity.id))).toEqual(['activity.pause']);
  });

  it('of no activity is 404; without a reason 400', async () => {
    expect((await pause(999_999)).json().code).toBe('ACTIVITY_NOT_FOUND');
    expect((await pause(1, { dryRun: false })).json().errors[0].field).toBe('body.reason');
  });
});

describe('the processes', () => {
  async function report(change: Partial<WorkerReport> = {}): Promise<WorkerReport> {
    const one: WorkerReport = {
      ...{ id: randomUUID(), kind: 'closer', host: 'machine-1', pid: 7, version: '1.2.3', uptimeMs: 100 },
      ...{ heartbeatMs: 5_000, state: 'RUNNING', wanted: 'RUN', figures: { inHand: 3 } },
      ...change,
    };
    await api.orders.reportWorker(one);
    return one;
  }
  const list = async () => workerList.parse((await api.send({ url: '/v1/workers', operator: true })).json());

  it('are listed as they report, for operators alone', async () => {
    const { id } = await report();
    const { workers } = await list();
    expect(workers.find((worker) => worker.id === id)).toMatchObject({
      ...{ kind: 'closer', host: 'machine-1', state: 'RUNNING', wanted: 'RUN', alive: true },
      figures: { inHand: 3 },
    });
    expect((await api.send({ url: '/v1/workers', as: 'ann' })).json().code).toBe('FORBIDDEN');
    expect((await api.send({ url: '/v1/workers' })).statusCode).toBe(401);
  });

  it('are paused and resumed with a reason, and hear it with their next heartbeat', async () => {
    const one = await report();
    const reply = await ask(`/v1/workers/${one.id}/pause`);
    expect(reply.statusCode, reply.body).toBe(200);
    expect(workerPauseView.parse(reply.json())).toMatchObject({
      ...{ dryRun: false, changes: true },
      worker: { id: one.id, wanted: 'PAUSE', state: 'RUNNING' },
    });
    expect(await api.orders.reportWorker(one)).toEqual({ wanted: 'PAUSE' });
    expect((await ask(`/v1/workers/${one.id}/resume`)).json()).toMatchObject({ worker: { wanted: 'RUN' } });
    expect(await api.orders.reportWorker(one)).toEqual({ wanted: 'RUN' });
    expect(await actionsOf(one.id)).toEqual(['worker.pause', 'worker.resume']);
  });

  it('that have stopped, or that nobody knows, are 409 and 404; a dry run changes nothing', async () => {
    const stopped = await report({ state: 'STOPPED' });
    expect((await ask(`/v1/workers/${stopped.id}/pause`)).json().code).toBe('WORKER_STOPPED');
    expect((await ask(`/v1/workers/${randomUUID()}/pause`)).json().code).toBe('WORKER_NOT_FOUND');
    expect((await ask('/v1/workers/x/pause')).json().code).toBe('INVALID_REQUEST');
    const one = await report();
    expect((await ask(`/v1/workers/${one.id}/pause`, { reason: 'a look' })).json()).toMatchObject({
      ...{ dryRun: true, changes: true },
      worker: { wanted: 'RUN' },
    });
    expect(await api.orders.reportWorker(one)).toEqual({ wanted: 'RUN' });
  });
});

describe('a process of the API that is paused', () => {
  it('refuses new orders with 503 and Retry-After; payments, cancels and reads go on', async () => {
    const activity = await api.createActivity();
    const [paid, cancelled] = [
      (await api.placeOrder(activity.id, 'gil', 'k')).json(),
      (await api.placeOrder(activity.id, 'hal', 'k')).json(),
    ];
    api.gate.pause();
    try {
      const refused = await api.placeOrder(activity.id, 'ida', 'k');
      expect([refused.statusCode, refused.json().code, refused.headers['retry-after']]).toEqual([
        503,
        'PAUSED',
        '5',
      ]);
      expect((await api.pay(paymentEvent(paid))).json()).toMatchObject({ outcome: 'paid' });
      expect((await api.send({ url: `/v1/orders/${paid.id}`, as: 'gil' })).json().status).toBe('PAID');
      const cancel = { method: 'POST', url: `/v1/orders/${cancelled.id}/cancel`, as: 'hal' } as const;
      expect((await api.send(cancel)).statusCode).toBe(200);
      expect(await api.stock.readCounts(activity.id)).toMatchObject({ stock: 99, held: 0, sold: 1 });
    } finally {
      api.gate.resume();
    }
    expect((await api.placeOrder(activity.id, 'ida', 'k')).statusCode).toBe(201);
  });

  it('is drained once the orders that it had taken are answered', async () => {
    const gate = createSaleGate();
    let answer: () => void = () => {};
    const order = gate.pass(
      () =>
        new Promise<void>((resolve) => {
          answer = resolve;
        }),
    );
    gate.pause();
    expect([gate.isOpen(), gate.isDrained(), gate.inHand()]).toEqual([false, false, 1]);
    answer();
    await order;
    expect(gate.isDrained()).toBe(true);
    const failing = gate.pass(() => Promise.reject(new Error('a store is away')));
    await expect(failing).rejects.toThrow('away');
    expect(gate.inHand()).toBe(0);
    gate.resume();
    expect([gate.isOpen(), gate.isDrained()]).toEqual([true, false]);
  });
});

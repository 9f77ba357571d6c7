import type { TimeoutOrder } from '@lapse/contracts';
import { createLogger } from '@lapse/runtime';
import { waitUntil } from '@lapse/testing';
import { describe, expect, test, vi } from 'vitest';
import { createDueQueue, type DueOrder } from '../src/due-queue.ts';
import { type HandleResult, handleDue } from '../src/handle-due.ts';
import type { StoreFault } from '../src/store-trouble.ts';
import { idsOf, log, newOrders } from './support.ts';

/** Orders that are due, and a handler whose batches end when the test says so. */
function burst(count: number, batchMax: number) {
  const queue = createDueQueue<null>();
  const message = { view: null, holdUntilMs: Number.POSITIVE_INFINITY, isKept: false, remaining: 0 };
  const add = (more: number): TimeoutOrder[] => {
    const orders = newOrders(more, () => Date.now() - 1);
    for (const order of orders) queue.add(order.orderId, message, { dueAt: order.dueTime, far: false });
    return orders;
  };
  const orders = add(count);
  const batches: { orders: readonly DueOrder[]; end: () => void }[] = [];
  let ended = 0;
  const due = handleDue({
    queue,
    batchMax,
    now: Date.now,
    handle: (batch) =>
      new Promise((resolve) => {
        const end = (): void => {
          ended += 1;
          resolve({ retry: [] });
        };
        batches.push({ orders: batch, end });
      }),
    rearm: async () => undefined,
    onDone: () => undefined,
    log,
  });
  due.wake();
  const trickle = (more: number): void => {
    add(more);
    due.wake();
  };
  return { orders, queue, due, trickle, batches, inFlight: () => batches.length - ended };
}

describe('due orders', () => {
  test('in a burst go two full batches at a time, never more, and each order once', async () => {
    const { orders, queue, due, batches, inFlight } = burst(10, 3);
    let most = 0;
    for (let next = 0; next < 4; next += 1) {
      await waitUntil(() => batches.length > next, { what: 'the next batch' });
      await waitUntil(() => inFlight() === 2 || batches.length === 4, { what: 'two batches in flight' });
      most = Math.max(most, inFlight());
      batches[next]?.end();
    }
    await waitUntil(() => queue.size() === 0, { what: 'every order to be done' });
    await due.stop();
    expect(most).toBe(2);
    expect(batches.map((batch) => batch.orders.length)).toEqual([3, 3, 3, 1]);
    expect(idsOf(batches.flatMap((batch) => batch.orders))).toEqual(idsOf(orders));
  });

  test('that come one by one gather while a batch is in flight', async () => {
    const { due, trickle, batches } = burst(1, 3);
    await waitUntil(() => batches.length === 1, { what: 'the first batch' });
    trickle(1);
    trickle(1);
    batches[0]?.end();
    await waitUntil(() => batches.length === 2, { what: 'the second batch' });
    batches[1]?.end();
    await due.stop();
    expect(batches.map((batch) => batch.orders.length)).toEqual([1, 2]);
  });

  test('gather again once a burst is over: two batches that are not full are never in flight together', async () => {
    const { due, trickle, batches, inFlight } = burst(4, 3);
    await waitUntil(() => inFlight() === 2, { what: 'a full batch, and the rest beside it' });
    trickle(1);
    batches[1]?.end();
    // The rest was done first: its lane is over, though there is more.
    await waitUntil(() => inFlight() === 1, { what: 'the rest to be done' });
    trickle(1);
    batches[0]?.end();
    await waitUntil(() => batches.length === 3, { what: 'what gathered meanwhile' });
    expect(inFlight()).toBe(1);
    batches[2]?.end();
    await due.stop();
    expect(batches.map((batch) => batch.orders.length)).toEqual([3, 1, 2]);
  });

  test('are waited for by a stop, in every batch that is in flight', async () => {
    const { due, batches, queue } = burst(7, 3);
    await waitUntil(() => batches.length === 2, { what: 'two batches' });
    let stopped = false;
    const stopping = due.stop().then(() => {
      stopped = true;
    });
    batches[0]?.end();
    await waitUntil(() => queue.size() === 4, { what: 'the first batch to be done' });
    expect(stopped).toBe(false);
    batches[1]?.end();
    await stopping;
    expect(queue.size()).toBe(1);
    expect(batches).toHaveLength(2);
  });
});

/** One order that is due now, and a handler and a broker that answer it one after the other, as the test says. */
async function oneOrder(handled: (HandleResult | Error)[], rearmed: Error[] = []): Promise<string[]> {
  const queue = createDueQueue<null>();
  const message = { view: null, holdUntilMs: Number.POSITIVE_INFINITY, isKept: false, remaining: 0 };
  queue.add('o1', message, { dueAt: Date.now(), far: false });
  const calls: string[] = [];
  const answer = async (call: string, given: HandleResult | Error | undefined): Promise<HandleResult> => {
    calls.push(call);
    if (given instanceof Error) throw given;
    return given ?? { retry: [] };
  };
  const due = handleDue({
    ...{ queue, batchMax: 9, now: Date.now, log, onDone: () => calls.push('done') },
    handle: () => answer('handle', handled.shift()),
    rearm: async () => void (await answer('rearm', rearmed.shift())),
  });
  due.wake();
  await waitUntil(() => queue.size() === 0, { what: 'the order to be done' });
  await due.stop();
  return calls;
}

describe('an order that is to be looked at again', () => {
  const again = (inMs: number): HandleResult => ({ retry: [{ orderId: 'o1', inMs }] });

  test('is, whatever the wait: none, or none that is a number', async () => {
    expect(await oneOrder([again(0), again(Number.NaN), again(5)])).toEqual([
      ...['handle', 'handle', 'handle', 'handle'],
      'done',
    ]);
  });

  test('late goes to the broker, and to nobody else while that cannot take it', async () => {
    expect(await oneOrder([again(60_000)], [new Error('no')])).toEqual(['handle', 'rearm', 'rearm', 'done']);
  });
});

/** How long an order waits after each of its first failures, with the longest wait that the back-off allows. */
async function waitsAfter(fault: StoreFault, failures: number): Promise<number[]> {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const queue = createDueQueue<null>();
  const message = { view: null, holdUntilMs: Number.POSITIVE_INFINITY, isKept: false, remaining: 0 };
  for (const order of newOrders(1, () => Date.now() - 1)) {
    queue.add(order.orderId, message, { dueAt: order.dueTime, far: false });
  }
  const waits: number[] = [];
  const keepWaits = { write: (line: string) => void waits.push(JSON.parse(line).inMs) };
  const due = handleDue({
    ...{ queue, batchMax: 1, now: Date.now, rearm: async () => undefined, onDone: () => undefined },
    handle: () => Promise.reject(new Error('no')),
    onFailed: () => fault,
    log: createLogger('test', 'warn', keepWaits),
  });
  due.wake();
  await waitUntil(() => waits.length >= failures, { what: `${failures} failures` });
  await due.stop();
  return waits.slice(0, failures);
}

describe('after a failure an order waits', () => {
  test('at most a second while the store is away, so that it is not late for longer once the store is back', async () => {
    expect(await waitsAfter('away', 5)).toEqual([200, 400, 800, 1_000, 1_000]);
  });

  test('longer and longer where the fault is its own, or a row is locked', async () => {
    expect(await waitsAfter('fault', 4)).toEqual([200, 400, 800, 1_600]);
    expect(await waitsAfter('busy', 4)).toEqual([200, 400, 800, 1_600]);
  });
});

import { expect, test } from 'vitest';
import { createBatcher, createCallMeter, measureCalls, registry } from '../src/index.ts';

test('a call keeps its answer and its error, and both are in the metrics by class', async () => {
  const seen: unknown[] = [];
  const port = measureCalls(
    {
      add: async (left: number, right: number) => left + right,
      fail: async () => {
        throw new Error('away');
      },
      name: () => 'not measured',
    },
    createCallMeter('broker', ['sum', 'other']),
    { add: 'sum', fail: 'other' },
    {
      add: ({ startedAtMs, endedAtMs }, result, ...args) =>
        seen.push([endedAtMs >= startedAtMs, result, args]),
    },
  );
  expect(await port.add(2, 3)).toBe(5);
  await expect(port.fail()).rejects.toThrow('away');
  expect(port.name()).toBe('not measured');
  expect(seen).toEqual([[true, 5, [2, 3]]]);
  const text = await registry.metrics();
  expect(text).toContain('lapse_broker_operation_seconds_count{operation="sum"} 1');
  expect(text).toContain('lapse_broker_operation_failures_total{operation="other"} 1');
  expect(text).toContain('lapse_broker_operation_failures_total{operation="sum"} 0');
});

test('a watcher that throws is counted, and the call has its answer', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    const port = measureCalls(
      { add: async (left: number, right: number) => left + right },
      { observe: () => undefined },
      { add: 'sum' },
      {
        add: () => {
          throw new Error('a fault of the watcher');
        },
      },
    );
    expect(await port.add(2, 3)).toBe(5);
    // Rejections that nobody handled are told before the next turn of the event loop.
    await new Promise(setImmediate);
  } finally {
    process.off('unhandledRejection', note);
  }
  expect(unhandled).toEqual([]);
  expect(await registry.metrics()).toContain('lapse_call_watcher_failures_total 1');
});

test('a batcher with a name shows how much goes together and how much waits', async () => {
  let finish: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const batcher = createBatcher<number, number>({
    ...{ name: 'find_by_key', batchMax: 4, queueMax: 10 },
    run: async (items) => {
      await gate;
      return items;
    },
  });
  const all = [1, 2, 3, 4, 5, 6].map((item) => batcher.submit(item));
  await Promise.resolve();
  expect(await registry.metrics()).toContain('lapse_queue_items{queue="find_by_key"} 2');
  finish();
  await Promise.all(all);
  const text = await registry.metrics();
  expect(text).toContain('lapse_queue_items{queue="find_by_key"} 0');
  expect(text).toContain('lapse_batch_items_bucket{batch="find_by_key",le="2"} 1');
  expect(text).toContain('lapse_batch_items_sum{batch="find_by_key"} 6');
});

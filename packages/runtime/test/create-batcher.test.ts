import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { BatcherClosedError, createBatcher, QueueFullError } from '../src/index.ts';

/** A batcher whose batches end when the test says so. */
function createHeldBatcher(options: { batchMax: number; queueMax: number; concurrency?: number }) {
  const batches: { items: number[]; finish: () => void; fail: (error: Error) => void }[] = [];
  const batcher = createBatcher<number, string>({
    ...options,
    run: (items) =>
      new Promise((resolve, reject) => {
        batches.push({ items, finish: () => resolve(items.map((item) => `r${item}`)), fail: reject });
      }),
  });
  return { batcher, batches };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('createBatcher', () => {
  test('a lone item runs within the same turn of the event loop', async () => {
    const events: string[] = [];
    const batcher = createBatcher<number, number>({
      run: async (items) => {
        events.push('run');
        return items;
      },
      batchMax: 10,
      queueMax: 10,
    });
    // The control: whatever waited for a timer or a later turn would come after these.
    const later = new Promise<void>((resolve) => {
      setImmediate(() => {
        events.push('next turn');
        resolve();
      });
    });
    const result = batcher.submit(1);
    events.push('submitted');
    await result;
    await later;
    expect(events).toEqual(['submitted', 'run', 'next turn']);
  });

  test('items submitted together travel together; those that come meanwhile form the next batch, in order', async () => {
    const { batcher, batches } = createHeldBatcher({ batchMax: 3, queueMax: 100 });
    const first = [batcher.submit(1), batcher.submit(2)];
    await turn();
    const later = [3, 4, 5, 6].map((item) => batcher.submit(item));
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1, 2]]);
    expect(batcher.size()).toBe(4);
    batches[0]?.finish();
    expect(await Promise.all(first)).toEqual(['r1', 'r2']);
    await turn();
    expect(batches[1]?.items).toEqual([3, 4, 5]);
    batches[1]?.finish();
    await turn();
    expect(batches[2]?.items).toEqual([6]);
    batches[2]?.finish();
    expect(await Promise.all(later)).toEqual(['r3', 'r4', 'r5', 'r6']);
  });

  test('a full queue refuses at once, and takes items again when it has room', async () => {
    const { batcher, batches } = createHeldBatcher({ batchMax: 1, queueMax: 2 });
    const running = batcher.submit(0);
    await turn();
    const waiting = [batcher.submit(1), batcher.submit(2)];
    await expect(batcher.submit(3)).rejects.toThrow(QueueFullError);
    expect(batches).toHaveLength(1);
    batches[0]?.finish();
    await running;
    const again = batcher.submit(4);
    for (const index of [1, 2, 3]) {
      await vi.waitUntil(() => batches[index]);
      batches[index]?.finish();
    }
    expect(await Promise.all([...waiting, again])).toEqual(['r1', 'r2', 'r4']);
  });

  test('a failing batch fails its own items and no other', async () => {
    const { batcher, batches } = createHeldBatcher({ batchMax: 2, queueMax: 10 });
    const items = [1, 2, 3].map((item) => batcher.submit(item));
    const settled = Promise.allSettled(items);
    await turn();
    batches[0]?.fail(new Error('deadlock'));
    await turn();
    batches[1]?.finish();
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    await expect(items[0]).rejects.toThrow('deadlock');
  });

  test('a run that throws at once counts as a failed batch', async () => {
    const batcher = createBatcher<number, number>({
      run: () => {
        throw new Error('at once');
      },
      batchMax: 1,
      queueMax: 1,
    });
    await expect(batcher.submit(1)).rejects.toThrow('at once');
    await expect(batcher.submit(2)).rejects.toThrow('at once');
  });

  test('too few or too many results are an error for every item: nobody gets the result of another', async () => {
    for (const results of [[], ['a'], ['a', 'b', 'c']]) {
      const batcher = createBatcher<number, string>({ run: async () => results, batchMax: 2, queueMax: 2 });
      const settled = await Promise.allSettled([batcher.submit(1), batcher.submit(2)]);
      expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    }
  });

  test('close drains what was taken, refuses what comes later, and may be called twice', async () => {
    const { batcher, batches } = createHeldBatcher({ batchMax: 1, queueMax: 10 });
    const items = [batcher.submit(1), batcher.submit(2)];
    let closed = false;
    const closing = Promise.all([batcher.close(), batcher.close()]).then(() => {
      closed = true;
    });
    await expect(batcher.submit(3)).rejects.toThrow(BatcherClosedError);
    await turn();
    batches[0]?.finish();
    await turn();
    expect(closed).toBe(false);
    batches[1]?.finish();
    await closing;
    expect(await Promise.all(items)).toEqual(['r1', 'r2']);
    await batcher.close();
  });

  test('limits below one are refused', () => {
    const run = async (items: number[]) => items;
    expect(() => createBatcher({ run, batchMax: 0, queueMax: 1 })).toThrow(RangeError);
    expect(() => createBatcher({ run, batchMax: 1, queueMax: Number.NaN })).toThrow(RangeError);
  });

  test('for any pattern of arrivals: each item is answered once, with its own result, in order, within the limits', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('submit' as const), count: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ kind: fc.constant('turns' as const), count: fc.integer({ min: 1, max: 3 }) }),
    );
    const limits = fc.record({
      batchMax: fc.integer({ min: 1, max: 7 }),
      queueMax: fc.integer({ min: 1, max: 30 }),
      concurrency: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        limits,
        fc.array(step, { maxLength: 30 }),
        fc.func(fc.integer({ min: 0, max: 3 })),
        playArrivals,
      ),
      { numRuns: 200 },
    );
  });
});

type Step = { kind: 'submit' | 'turns'; count: number };

/** Submit and let time pass as the steps say; `kindOf` decides how long a batch takes, and 3 means it fails. */
async function playArrivals(
  limits: { batchMax: number; queueMax: number; concurrency: number },
  steps: Step[],
  kindOf: (first: number) => number,
): Promise<void> {
  const order: number[] = [];
  let inFlight = 0;
  const batcher = createBatcher<number, string>({
    ...limits,
    run: async (items) => {
      inFlight += 1;
      expect(inFlight).toBeLessThanOrEqual(limits.concurrency);
      expect(items.length).toBeLessThanOrEqual(limits.batchMax);
      order.push(...items);
      const kind = kindOf(items[0] ?? 0);
      for (let count = 0; count < kind; count += 1) await turn();
      inFlight -= 1;
      if (kind === 3) throw new Error(`failed ${items.join()}`);
      return items.map((item) => `r${item}`);
    },
  });
  const answers = new Map<number, string[]>();
  const note = (item: number, answer: string) => answers.set(item, [...(answers.get(item) ?? []), answer]);
  const pending: Promise<unknown>[] = [];
  let next = 0;
  for (const { kind, count } of steps) {
    for (let done = 0; done < count; done += 1) {
      if (kind === 'turns') {
        await turn();
        continue;
      }
      const item = next++;
      pending.push(
        batcher.submit(item).then(
          (result) => note(item, result),
          (error: Error) => note(item, error instanceof QueueFullError ? 'full' : error.message),
        ),
      );
      expect(batcher.size()).toBeLessThanOrEqual(limits.queueMax);
    }
  }
  await batcher.close();
  await Promise.all(pending);

  expect(answers.size).toBe(next);
  for (const [item, given] of answers) {
    expect(given).toHaveLength(1);
    const failed = given[0]?.startsWith('failed ') && given[0].slice(7).split(',').includes(String(item));
    expect(given[0] === `r${item}` || given[0] === 'full' || failed).toBe(true);
  }
  const taken = [...answers].filter(([, [answer]]) => answer !== 'full').map(([item]) => item);
  expect(order).toEqual(taken.sort((a, b) => a - b));
}

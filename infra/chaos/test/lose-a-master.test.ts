import { expect, test } from 'vitest';
import { buyEvenly } from '../src/buy-evenly.ts';
import { worstLateness } from '../src/worst-lateness.ts';

const load = { ordersPerSecond: 200, forMs: 100 };

test('a buyer without an order is told of once all have come, and never ends the process before', async () => {
  let came = 0;
  const buy = () => {
    came += 1;
    return came === 1 ? Promise.reject(new Error('no order')) : Promise.resolve();
  };
  const unheard: unknown[] = [];
  const hear = (reason: unknown) => unheard.push(reason);
  process.on('unhandledRejection', hear);
  try {
    await expect(buyEvenly(buy, load, new AbortController().signal)).rejects.toThrow('no order');
  } finally {
    process.off('unhandledRejection', hear);
  }
  expect([came, unheard]).toEqual([20, []]);
});

test('who breaks off stops the buyers that are still to come', async () => {
  expect(await buyEvenly(() => Promise.resolve(), load, AbortSignal.abort())).toBe(0);
});

test('what is late or early after the master came back counts as well', () => {
  const before = { lateness: { max: 2_377, early: 0 } };
  const after = { lateness: { max: 25_000, early: 1 } };
  expect(worstLateness([before, after])).toEqual({ max: 25_000, early: 1 });
  expect(worstLateness([after, before])).toEqual({ max: 25_000, early: 1 });
});

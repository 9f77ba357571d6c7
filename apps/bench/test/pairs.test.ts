import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { twoClosers } from '../src/close-burst/two-closers.ts';
import { twoProducers } from '../src/create/two-producers.ts';
import { figuresOf, named, openTestBench, type TestBench } from './bench-services.ts';

const orders = 500;
/** A busy machine needs several tries to be ready by the deadline. */
const timeout = 120_000;

let bench: TestBench;

beforeAll(async () => {
  bench = await openTestBench();
});
afterAll(() => bench.close());

describe('two processes of a kind', { timeout }, () => {
  test.each([twoClosers, twoProducers])(
    '$name: both are measured, each under its own name, and together they are exact',
    async ({ name, contenders }) => {
      const figures = figuresOf(await named(contenders, 'two').run(bench.options(name, orders)));
      expect(figures.orders).toBe(orders);
      if (process.platform === 'linux') {
        expect(Object.keys(figures.rssPeakBytes).sort()).toEqual([
          'broker',
          'mysql',
          'redis',
          'worker',
          'worker-2',
        ]);
      }
    },
  );
});

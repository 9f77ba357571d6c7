import { afterAll, beforeAll, expect, test } from 'vitest';
import { runRolling } from '../src/rolling/run-rolling.ts';
import { figuresOf, openTestBench, type TestBench } from './bench-services.ts';

let bench: TestBench;
beforeAll(async () => {
  bench = await openTestBench();
});
afterAll(() => bench.close());

test('producers are replaced under load: every answer is 201, nothing is lost and nothing early', async () => {
  const orders = 1_000;
  const manner = {
    perSecond: 25,
    times: { payWithinMs: 3_000, remindAfterMs: 1_500 },
    warmUpMs: 500,
    replaced: ['producer'],
  } as const;
  const figures = figuresOf(await runRolling(manner, bench.options('rolling', orders)));
  expect(figures).toMatchObject({ orders, early: 0, rolling: { replaced: 2 } });
}, 240_000);

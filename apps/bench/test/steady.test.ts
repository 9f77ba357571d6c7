import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome } from '../src/result.ts';
import { ordersBeforeSteady, runSteady, type SteadyManner } from '../src/steady/run-steady.ts';
import { figuresOf, openTestBench, type TestBench } from './bench-services.ts';

const manner: SteadyManner = {
  perSecond: 50,
  times: { payWithinMs: 3_000, remindAfterMs: 1_500 },
  warmUpMs: 500,
};
const orders = 300;
const timeout = 120_000;

let bench: TestBench;

beforeAll(async () => {
  bench = await openTestBench();
});
afterAll(() => bench.close());

describe(`${orders} orders, ${manner.perSecond} a second`, { timeout }, () => {
  let outcome: Outcome;
  beforeAll(async () => {
    outcome = await runSteady(manner, bench.options('steady', orders));
  }, timeout);

  test('all are sold, reminded of and closed, and the oracle agrees', () => {
    const figures = figuresOf(outcome);
    expect(figures).toMatchObject({ orders, early: 0, responseMs: { count: orders } });
    expect(figures.cpuUsPerOrder).toHaveProperty('closer');
  });

  test('lateness is that of orders due while others come in, and of no other', () => {
    const { latenessMs } = figuresOf(outcome);
    expect(latenessMs?.count).toBeGreaterThan(0);
    // Those due after the last one came in are a pay window's worth.
    expect(latenessMs?.count).toBeLessThan(orders - ordersBeforeSteady(manner) / 2);
  });
});

test('so few orders that none would count are not measured, and the reason says how many would', async () => {
  expect(await runSteady(manner, bench.options('few', 175))).toEqual({
    kind: 'skipped',
    reason: 'none of 175 orders would count: ask for more than 175',
  });
});

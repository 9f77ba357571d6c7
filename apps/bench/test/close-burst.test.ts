import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runBurst } from '../src/burst/run-burst.ts';
import { closeContenders } from '../src/close-burst/close-contenders.ts';
import { closing } from '../src/close-burst/closing.ts';
import type { CloseContender } from '../src/close-burst/contender.ts';
import type { Outcome } from '../src/result.ts';
import { figuresOf, named, openTestBench, type TestBench } from './bench-services.ts';

const orders = 500;
/** A busy machine needs several tries to be ready by the deadline. */
const timeout = 120_000;
const fixture = fileURLToPath(new URL('fixtures/close-all.mjs', import.meta.url));

let bench: TestBench;

beforeAll(async () => {
  bench = await openTestBench();
});
afterAll(() => bench.close());

function run(contender: CloseContender, stallMs = 15_000): Promise<Outcome> {
  return runBurst(contender, { task: closing }, { ...bench.options(contender.name, orders), stallMs });
}

describe('close-burst of 500 orders', { timeout }, () => {
  test('the bare limit is measured: rate, lateness, CPU by process, statements', async () => {
    const figures = figuresOf(await run(named(closeContenders, 'limit')));
    expect(figures).toMatchObject({ orders, early: 0, latenessMs: { count: orders } });
    expect(figures.perSecond).toBeCloseTo(orders / figures.seconds);
    expect(figures.sql.Com_commit).toBeGreaterThanOrEqual(1);
    expect(figures.redis.eval).toBeGreaterThanOrEqual(1);
    if (process.platform === 'linux') {
      expect(Object.keys(figures.cpuUsPerOrder).sort()).toEqual(['mysql', 'redis', 'worker']);
      expect(figures.rssPeakBytes.worker).toBeGreaterThan(20_000_000);
    }
  });

  test('the real closer closes them by messages of the real broker, and the oracle agrees', async () => {
    const figures = figuresOf(await run(named(closeContenders, 'lapse')));
    expect(figures).toMatchObject({ orders, early: 0, latenessMs: { count: orders } });
    if (process.platform === 'linux') expect(figures.cpuUsPerOrder).toHaveProperty('broker');
  });

  test.each(['limit', 'lapse'])(
    'spread unevenly over 7 activities, all of them get their own places back: %s',
    async (name) => {
      const contender = named(closeContenders, name);
      const outcome = await runBurst(contender, { task: closing, activities: 7 }, bench.options('7', orders));
      expect(figuresOf(outcome)).toMatchObject({ orders, early: 0, latenessMs: { count: orders } });
    },
  );

  /** The negative controls: the same work with one place given back too few, and one too many. */
  test.each([
    { leaveOut: 1, found: orders - 1 },
    { leaveOut: -1, found: orders + 1 },
  ])('a contender that leaves out $leaveOut places has no figure', async ({ leaveOut, found }) => {
    const outcome = await run(closerLeavingOut(leaveOut), 500);
    expect(outcome).toEqual({
      kind: 'no-figure',
      reasons: [`places free in Redis: ${found} instead of ${orders}`, expect.stringContaining('last words')],
    });
  });

  test('the same contender without that fault has one', async () => {
    expect(figuresOf(await run(closerLeavingOut(0)))).toMatchObject({ orders, early: 0 });
  });
});

function closerLeavingOut(places: number): CloseContender {
  return {
    name: `leaves-out-${places}`,
    about: '',
    judgedBy: 'counts',
    ordersMax: orders,
    queue: null,
    armMs: () => 0,
    programs: (sale) => [
      {
        name: 'worker',
        file: fixture,
        env: { LAPSE_BENCH_SALE: JSON.stringify(sale), LEAVE_OUT: String(places) },
        readyText: 'ready',
      },
    ],
  };
}

test('a contender whose service this machine lacks is skipped by name, with the reason', async () => {
  const { services, ...rest } = bench.options('rabbitmq', orders);
  const peers = { ...services.peers, rabbitmq: async () => 'rabbitmq-server is not installed' };
  const outcome = await runBurst(
    named(closeContenders, 'rabbitmq'),
    { task: closing },
    {
      ...rest,
      services: { ...services, peers },
    },
  );
  expect(outcome).toEqual({ kind: 'skipped', reason: 'rabbitmq-server is not installed' });
});

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runBurst } from '../src/burst/run-burst.ts';
import { closeContenders } from '../src/close-burst/close-contenders.ts';
import { closing } from '../src/close-burst/closing.ts';
import type { CloseContender } from '../src/close-burst/contender.ts';
import { findPostgres, postgresMissing } from '../src/find-postgres.ts';
import type { Outcome } from '../src/result.ts';
import { figuresOf, named, openTestBench, type TestBench } from './bench-services.ts';

const orders = 300;
/** A busy machine needs several tries to be ready by the deadline. */
const timeout = 180_000;
const fixture = fileURLToPath(new URL('fixtures/close-all-postgres.mjs', import.meta.url));

let bench: TestBench;

beforeAll(async () => {
  bench = await openTestBench();
});
afterAll(() => bench.close());

function run(contender: CloseContender, stallMs = 15_000): Promise<Outcome> {
  return runBurst(contender, { task: closing }, { ...bench.options(contender.name, orders), stallMs });
}

describe.skipIf(findPostgres() === undefined)('orders in PostgreSQL', { timeout }, () => {
  test.each(['graphile-worker', 'pg-boss'])('%s closes all of them, in both stores', async (name) => {
    const figures = figuresOf(await run(named(closeContenders, name)));
    expect(figures).toMatchObject({ orders, early: 0, latenessMs: { count: orders } });
    if (process.platform === 'linux') {
      expect(Object.keys(figures.cpuUsPerOrder).sort()).toEqual(['postgres', 'redis', 'worker']);
    }
  });

  /** The negative controls: the same work with one place given back too few, and one too many. */
  test.each([
    { leaveOut: 1, found: orders - 1 },
    { leaveOut: -1, found: orders + 1 },
  ])('a contender that leaves out $leaveOut places has no figure', async ({ leaveOut, found }) => {
    expect(await run(closerLeavingOut(leaveOut), 500)).toMatchObject({
      kind: 'no-figure',
      reasons: expect.arrayContaining([`places free in PostgreSQL: ${found} instead of ${orders}`]),
    });
  });

  test('the same contender without that fault has one', async () => {
    expect(figuresOf(await run(closerLeavingOut(0)))).toMatchObject({ orders, early: 0 });
  });
});

test('without PostgreSQL its contenders are skipped by name, and told how to get it', async () => {
  const { services, ...rest } = bench.options('none', orders);
  const peers = { ...services.peers, postgres: async () => postgresMissing };
  const contender = named(closeContenders, 'pg-boss');
  const outcome = await runBurst(contender, { task: closing }, { ...rest, services: { ...services, peers } });
  expect(outcome).toEqual({ kind: 'skipped', reason: expect.stringContaining('apt-get install postgresql') });
});

function closerLeavingOut(places: number): CloseContender {
  return {
    name: `leaves-out-${places}`,
    about: '',
    judgedBy: 'counts',
    ordersMax: orders,
    queue: null,
    database: 'postgres',
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

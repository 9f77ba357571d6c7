import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BurstTask } from '../src/burst/burst-task.ts';
import type { BurstContender } from '../src/burst/contender.ts';
import { runBurst } from '../src/burst/run-burst.ts';
import { notifying } from '../src/remind-burst/notifying.ts';
import { remindContenders } from '../src/remind-burst/remind-contenders.ts';
import { reminding } from '../src/remind-burst/reminding.ts';
import type { Outcome } from '../src/result.ts';
import { figuresOf, named, openTestBench, type TestBench } from './bench-services.ts';

const orders = 500;
/** A busy machine needs several tries to be ready by the deadline. */
const timeout = 120_000;
const fixture = fileURLToPath(new URL('fixtures/remind-all.mjs', import.meta.url));

let bench: TestBench;

beforeAll(async () => {
  bench = await openTestBench();
});
afterAll(() => bench.close());

function run(contender: BurstContender, task: BurstTask = reminding): Promise<Outcome> {
  return runBurst(contender, { task }, bench.options(`${task.name}-${contender.name}`, orders));
}

describe('reminders of 500 orders at once', { timeout }, () => {
  test('the bare limit is measured', async () => {
    const figures = figuresOf(await run(named(remindContenders, 'limit')));
    expect(figures).toMatchObject({ orders, early: 0, latenessMs: { count: orders } });
    expect(figures.sql.Com_commit).toBeGreaterThanOrEqual(1);
  });

  test.each([reminding, notifying])(
    'the real reminder does them by messages of the real broker, and the oracle agrees: $name',
    async (task) => {
      const figures = figuresOf(await run(named(remindContenders, 'lapse'), task));
      expect(figures).toMatchObject({ orders, early: 0, latenessMs: { count: orders } });
      if (process.platform === 'linux') expect(figures.cpuUsPerOrder).toHaveProperty('broker');
    },
  );

  /** The negative control, and the same without its fault. */
  test.each([
    { leaveOut: 1, fault: `notices: ${orders - 1} instead of ${orders}` },
    { leaveOut: 0, fault: null },
  ])('a contender that leaves out $leaveOut notices is judged by that', async ({ leaveOut, fault }) => {
    const outcome = await run(reminderLeavingOut(leaveOut));
    if (fault === null) return expect(outcome.kind).toBe('measured');
    expect(outcome).toMatchObject({
      kind: 'no-figure',
      reasons: [fault, expect.stringContaining('last words')],
    });
  });
});

function reminderLeavingOut(notices: number): BurstContender {
  return {
    name: `leaves-out-${notices}`,
    about: '',
    judgedBy: 'counts',
    ordersMax: orders,
    queue: null,
    armMs: () => 0,
    programs: (sale) => [
      {
        name: 'worker',
        file: fixture,
        env: { LAPSE_BENCH_SALE: JSON.stringify(sale), LEAVE_OUT: String(notices) },
        readyText: 'ready',
      },
    ],
  };
}

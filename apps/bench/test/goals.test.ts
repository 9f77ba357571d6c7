import { expect, test } from 'vitest';
import { type JudgedGoal, judgeGoals } from '../src/judge-goals.ts';
import { goalTable } from '../src/report/goal-table.ts';
import type { ScenarioResult } from '../src/result.ts';
import { benchResultOf, scenarioResult } from './bench-result.ts';
import { measured } from './measured.ts';

function judged(scenarios: ScenarioResult[], work: string, figure: string, cores = 2): JudgedGoal {
  const found = judgeGoals(benchResultOf(scenarios, cores)).find(
    (goal) => goal.work === work && goal.figure === figure,
  );
  if (found === undefined) throw new Error(`there is no goal ${work}, ${figure}`);
  return found;
}

test('a ratio is the median of those within the rounds, and holds from its bound on', () => {
  const close = (lapse: number) =>
    scenarioResult('close-burst', {
      limit: [measured(1_000), measured(500), measured(1_000)],
      lapse: [measured(lapse), measured(450), measured(990)],
    });
  expect(judged([close(900)], 'burst close', 'rate / bare limit')).toMatchObject({
    verdict: 'yes',
    measured: { median: 0.9, max: 0.99 },
  });
  expect(judged([close(100)], 'burst close', 'rate / bare limit')).toMatchObject({ verdict: 'yes' });
  expect(
    judged(
      [scenarioResult('close-burst', { limit: [measured(1_000)], lapse: [measured(899)] })],
      'burst close',
      'rate / bare limit',
    ),
  ).toMatchObject({ verdict: 'no', measured: { median: 0.899 } });
});

test('beside a goal stands what the bare work has, by the same rounds; it decides nothing', () => {
  const create = scenarioResult('create', {
    limit: [measured(100), measured(200)],
    'product-limit': [measured(50), measured(90)],
    lapse: [measured(40), measured(70)],
  });
  expect(judged([create], 'create', 'rate / bare reserve route')).toMatchObject({
    verdict: 'no',
    bare: { min: 0.45, max: 0.5 },
  });
  expect(goalTable(benchResultOf([create]), { measuredOnly: true })).toMatch(/create .*\| no +\| +0.475x \|/);
  expect(judged([create], 'burst close', 'rate / BullMQ').bare).toBeNull();
});

test('CPU of some processes is no figure where one of them was not measured', () => {
  const close = (cpuUsPerOrder: Record<string, number>) => [
    scenarioResult('close-burst', { lapse: [measured(1, { cpuUsPerOrder })] }),
  ];
  const goal = ['burst close', 'CPU per order: Node, SQL, Redis'] as const;
  expect(judged(close({ worker: 10, mysql: 15, redis: 4, broker: 100 }), ...goal)).toMatchObject({
    verdict: 'yes',
    measured: { median: 29 },
  });
  expect(judged(close({ worker: 10, mysql: 15 }), ...goal).verdict).toBe('not measured');
  expect(judged(close({}), ...goal).verdict).toBe('not measured');
});

test('one order closed early is one too many', () => {
  const steady = (early: number) => [scenarioResult('steady', { lapse: [measured(1, { early })] })];
  expect(judged(steady(0), 'steady', 'closed early').verdict).toBe('yes');
  expect(judged(steady(1), 'steady', 'closed early').verdict).toBe('no');
});

test('an order may cost 15% more beside a hundred times as many, and no more', () => {
  const growth = (us: number) => [
    scenarioResult('growth-close', {
      'pending-10k': [measured(1, { cpuUsPerOrder: { worker: 20, mysql: 20 } })],
      'pending-1m': [measured(1, { cpuUsPerOrder: { worker: 20, mysql: us - 20 } })],
    }),
  ];
  const goal = ['growth, close', 'CPU per order, 1M pending / 10k'] as const;
  expect(judged(growth(46), ...goal)).toMatchObject({ verdict: 'yes', measured: { median: 1.15 } });
  expect(judged(growth(47), ...goal).verdict).toBe('no');
});

test('a second process must help where there are cores for it, and else be no slower', () => {
  const pair = [scenarioResult('two-closers', { one: [measured(100)], two: [measured(120)] })];
  expect(judged(pair, 'two closers', 'rate / one', 2).verdict).toBe('yes');
  expect(judged(pair, 'two closers', 'rate / one', 4).verdict).toBe('no');
});

test('what was not exact or did not run is not measured, never met', () => {
  const lost = scenarioResult('create', {
    limit: [measured(10)],
    lapse: [{ kind: 'no-figure', reasons: ['lost one'] }],
  });
  const verdicts = judgeGoals(benchResultOf([lost])).map(({ verdict }) => verdict);
  expect(new Set(verdicts)).toEqual(new Set(['not measured']));
});

test('the table of a partial run names what was measured alone; a whole one names all', () => {
  const result = benchResultOf([scenarioResult('steady', { lapse: [measured(1)] })]);
  expect(goalTable(result, { measuredOnly: true }).split('\n')).toHaveLength(3);
  expect(goalTable(result).split('\n')).toHaveLength(2 + judgeGoals(result).length);
  expect(goalTable(benchResultOf([]), { measuredOnly: true })).toBe('');
});

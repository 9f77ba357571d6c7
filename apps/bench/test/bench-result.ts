import type { BenchResult, Outcome, ScenarioResult } from '../src/result.ts';
import { summarise } from '../src/statistics.ts';

/** A scenario's result with these outcomes, round by round. */
export function scenarioResult(
  name: string,
  contenders: Readonly<Record<string, readonly Outcome[]>>,
): ScenarioResult {
  return {
    name,
    about: `about ${name}`,
    rounds: Math.max(1, ...Object.values(contenders).map(({ length }) => length)),
    contenders: Object.entries(contenders).map(([contender, outcomes]) => {
      const figures = outcomes.flatMap((outcome) => (outcome.kind === 'measured' ? [outcome.figures] : []));
      const cpuUs = figures.map(({ cpuUsPerOrder }) =>
        Object.values(cpuUsPerOrder).reduce((sum, us) => sum + us, 0),
      );
      return {
        name: contender,
        about: `about ${contender}`,
        outcomes: [...outcomes],
        perSecond: summarise(figures.map(({ perSecond }) => perSecond)) ?? null,
        cpuUsPerOrder: summarise(cpuUs) ?? null,
      };
    }),
  };
}

/** A run of two cores with these scenarios. */
export function benchResultOf(scenarios: readonly ScenarioResult[], cores = 2): BenchResult {
  return {
    version: 2,
    startedAt: '2026-01-02T03:04:05.000Z',
    seconds: 90,
    quick: false,
    machine: {
      cpu: 'made up',
      cores,
      memoryBytes: 8_000_000_000,
      system: 'Linux 1',
      node: 'v20.0.0',
      versions: { mysql: '10' },
      settings: { 'redis save': '' },
    },
    load: { before: [0, 0, 0], after: [1, 1, 1] },
    scenarios: [...scenarios],
    closingLine: 'bench: close_vs_limit=0.90',
  };
}
